package store

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// KeptCluster is Cluster for administrators: it also finds a deleted one until it is
// removed for good.
func (s *Store) KeptCluster(ctx context.Context, id uuid.UUID) (*model.Cluster, error) {
	row := s.pool.QueryRow(ctx, `select `+clusterColumns+` from `+clusterTables+` where c.id = $1`, id)
	c, err := s.scanCluster(row)
	return c, notFound(err, "cluster", id)
}
