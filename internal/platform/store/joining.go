package store

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Joining is where a host that registers would belong: narrow columns, so that a
// registration costs the same whatever the size of the cluster.
type Joining struct {
	ClusterID     *uuid.UUID // nil with late binding
	ClusterKind   model.ClusterKind
	ClusterStatus model.ClusterStatus
	UserName      string // whose environment it is
}

// Joining reads where a host of a discovery environment belongs: the cluster it is in,
// or for a new host the cluster of the environment. It returns an ErrNotFound when
// there is no such environment, or the cluster was deleted.
func (s *Store) Joining(ctx context.Context, infraEnvID, hostID uuid.UUID) (Joining, error) {
	var j Joining
	var kind, status, user *string
	err := s.pool.QueryRow(ctx, `
		select b.cluster_id, c.kind, c.status, e.doc->>'user_name'
		from infra_envs e
		left join hosts h on h.infra_env_id = e.id and h.id = $2 and h.deleted_at is null
		cross join lateral (select case when h.id is null then e.cluster_id else h.cluster_id end as cluster_id) b
		left join clusters c on c.id = b.cluster_id and c.deleted_at is null
		where e.id = $1 and e.deleted_at is null`, infraEnvID, hostID).Scan(&j.ClusterID, &kind, &status, &user)
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
