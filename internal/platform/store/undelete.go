package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// UndeleteCluster brings a deleted cluster back, with its InfraEnvs, and with the hosts that were deleted with it and have not registered
// since. fn adds events. It returns an ErrConflict for a cluster that is not deleted, and an ErrNotFound once its purge has begun.
func (s *Store) UndeleteCluster(ctx context.Context, id uuid.UUID, fn func(*model.Cluster, *Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		c, err := s.scanCluster(tx.QueryRow(ctx, `select `+clusterColumns+` from `+clusterTables+`
			where c.id = $1 and not c.purge_begun for update of c`, id))
		switch {
		case err != nil:
			return notFound(err, "cluster", id)
		case c.DeletedAt.IsZero():
			return model.Conflictf("cluster %s is not deleted", c.Name)
		}
		t := &Tx{now: s.Now()}
		t.batch.Queue(`update hosts set deleted_at = null where cluster_id = $1 and deleted_at = $2`, id, c.DeletedAt)
		t.batch.Queue(`
			update infra_envs set deleted_at = null, cluster_id = $1::uuid, doc = doc - 'former_cluster_id'
			where cluster_id is null and (doc->>'former_cluster_id')::uuid = $1::uuid and (deleted_at is null or deleted_at >= $2)`,
			id, c.DeletedAt)
		t.batch.Queue(`update clusters set deleted_at = null, updated_at = $2 where id = $1`, id, t.now) // it is not idle
		fn(c, t)
		t.RefreshCluster(id)
		if err := t.flush(ctx, tx); err != nil {
			return fmt.Errorf("bring back cluster %s: %w", c.Name, kubeKeyTaken(err, c.KubeNamespace, c.KubeName))
		}
		return nil
	})
}
