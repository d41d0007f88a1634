package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Standard is what the hardware of a host is judged by.
type Standard struct {
	Bound             bool // the rest is of its cluster, else of its discovery environment
	ClusterKind       model.ClusterKind
	ControlPlaneCount int
	OpenShiftVersion  string
}

// Standard reads what a host is judged by. It costs the same whatever the size of the
// cluster. It returns an ErrNotFound for an unknown host.
func (s *Store) Standard(ctx context.Context, infraEnvID, hostID uuid.UUID) (Standard, error) {
	var out Standard
	err := s.pool.QueryRow(ctx, `
		select c.id is not null, coalesce(c.kind, ''), coalesce(c.control_plane_count, 0),
		  coalesce(c.openshift_version, e.doc->>'openshift_version', '')
		from hosts h
		join infra_envs e on e.id = h.infra_env_id
		left join clusters c on c.id = h.cluster_id
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, infraEnvID, hostID).Scan(
		&out.Bound, &out.ClusterKind, &out.ControlPlaneCount, &out.OpenShiftVersion)
	if err != nil {
		return out, fmt.Errorf("read what host %s is judged by: %w", hostID, notFound(err, "host", hostID))
	}
	return out, nil
}
