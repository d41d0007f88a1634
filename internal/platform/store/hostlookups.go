package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// RequirementsInput holds the values that a host's hardware requirements depend on.
type RequirementsInput struct {
	Bound             bool // the rest is of its cluster, else of its InfraEnv
	ClusterKind       model.ClusterKind
	ControlPlaneCount int
	OpenShiftVersion  string
}

// RequirementsInput reads the values that a host's hardware requirements depend on. It costs the same whatever
// the size of the cluster. It returns an ErrNotFound for an unknown host.
func (s *Store) RequirementsInput(ctx context.Context, infraEnvID, hostID uuid.UUID) (RequirementsInput, error) {
	var out RequirementsInput
	err := s.pool.QueryRow(ctx, `
		select c.id is not null, coalesce(c.kind, ''), coalesce(c.control_plane_count, 0),
		  coalesce(c.openshift_version, e.doc->>'openshift_version', '')
		from hosts h
		join infra_envs e on e.id = h.infra_env_id
		left join clusters c on c.id = h.cluster_id
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, infraEnvID, hostID).Scan(
		&out.Bound, &out.ClusterKind, &out.ControlPlaneCount, &out.OpenShiftVersion)
	if err != nil {
		return out, fmt.Errorf("read requirements input of host %s: %w", hostID, notFound(err, "host", hostID))
	}
	return out, nil
}

// Joining is the cluster and InfraEnv a registering host belongs to: narrow columns, so that a registration
// costs the same whatever the size of the cluster.
type Joining struct {
	ClusterID         *uuid.UUID // nil with late binding
	ClusterKind       model.ClusterKind
	ClusterStatus     model.ClusterStatus
	ControlPlaneCount int
	UserName          string // the cluster of the InfraEnv
	HostDeleted       bool   // by a user
}

// Joining reads the cluster that a host of an InfraEnv belongs to: the one it is in, or for a new host the
// cluster of the InfraEnv. It returns an ErrNotFound when the InfraEnv does not exist, but for a host that was
// in a cluster when it was deleted, or when the cluster was deleted.
func (s *Store) Joining(ctx context.Context, infraEnvID, hostID uuid.UUID) (Joining, error) {
	var j Joining
	var kind, status, user *string
	err := s.pool.QueryRow(ctx, `
		select b.cluster_id, c.kind, c.status, coalesce(c.control_plane_count, 0), e.doc->>'user_name',
		  exists (
		    select from hosts x
		    where x.infra_env_id = e.id and x.id = $2 and x.deleted_at is not null and x.doc ? 'deleted_by_user')
		from infra_envs e
		left join hosts h on h.infra_env_id = e.id and h.id = $2 and h.deleted_at is null
		cross join lateral (select case when h.id is null then e.cluster_id else h.cluster_id end as cluster_id) b
		left join clusters c on c.id = b.cluster_id and c.deleted_at is null
		where e.id = $1 and (e.deleted_at is null or h.cluster_id is not null)`, infraEnvID, hostID).Scan(
		&j.ClusterID, &kind, &status, &j.ControlPlaneCount, &user, &j.HostDeleted)
	if err != nil {
		return j, notFound(err, "infra-env", infraEnvID)
	}
	if user != nil {
		j.UserName = *user
	}
	if j.ClusterID == nil {
		return j, nil
	}
	if kind == nil {
		return j, model.NotFoundf("cluster %s was not found", j.ClusterID)
	}
	j.ClusterKind, j.ClusterStatus = model.ClusterKind(*kind), model.ClusterStatus(*status)
	return j, nil
}

// HostsOfMAC reads the hosts of an InfraEnv that have an interface with this MAC address, the last registered
// one first.
func (s *Store) HostsOfMAC(ctx context.Context, infraEnvID uuid.UUID, mac string) ([]*model.Host, error) {
	var out []*model.Host
	err := s.Hosts(ctx, HostFilter{InfraEnvID: infraEnvID}, func(h *model.Host) error {
		has := func(nic wire.Interface) bool { return nic.HasMAC(mac) }
		if h.Inventory != nil && slices.ContainsFunc(h.Inventory.Interfaces, has) {
			out = append(out, h)
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b *model.Host) int { return b.RegisteredAt.Compare(a.RegisteredAt) })
	return out, err
}
