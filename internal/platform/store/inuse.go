package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// notWhileHostsJoin locks the hosts of an existing cluster and refuses while the workflow of one installs it.
// Leftovers of a failed installation do not prevent the deletion.
func notWhileHostsJoin(ctx context.Context, tx pgx.Tx, c *model.Cluster) error {
	if c.Status != model.ClusterAddingHosts {
		return nil
	}
	busy, err := countLocked(ctx, tx,
		`h.cluster_id = $1`, `h.status in ('installing', 'installing-in-progress', 'installing-pending-user-action')`, c.ID)
	if err == nil && busy > 0 {
		return model.Conflictf(
			"cluster %s cannot be deleted: require no host that is being installed into it, found %d: reset them first",
			c.Name,
			busy,
		)
	}
	return err
}

// notWhileHostsAreUsed locks the hosts of an InfraEnv and refuses while one is prepared or installed, or a workflow
// reclaims one.
func notWhileHostsAreUsed(ctx context.Context, tx pgx.Tx, infraEnvID uuid.UUID) error {
	busy, err := countLocked(ctx, tx, `h.infra_env_id = $1`, `h.status in ('preparing-for-installation', 'preparing-successful',
		'installing', 'installing-in-progress', 'installing-pending-user-action')`, infraEnvID)
	if err != nil {
		return err
	}
	if busy > 0 {
		return model.Conflictf(
			"infra-env %s cannot be deleted: require no host that is being prepared or installed, found %d: cancel the installation first",
			infraEnvID, busy)
	}
	coming, err := countLocked(ctx, tx, `h.infra_env_id = $1`, `h.status in ('reclaiming', 'reclaiming-rebooting')`, infraEnvID)
	if err == nil && coming > 0 {
		return model.Conflictf("infra-env %s cannot be deleted: require no host that is being reclaimed, found %d", infraEnvID, coming)
	}
	return err
}

// countLocked locks hosts, in the order of every transaction that locks several, and counts those that satisfy
// a condition.
func countLocked(ctx context.Context, tx pgx.Tx, where, condition string, id uuid.UUID) (n int, err error) {
	err = tx.QueryRow(ctx, `
		select count(*) filter (where `+condition+`) from (
		  select h.* from hosts h
		  where `+where+` and h.deleted_at is null
		  order by h.infra_env_id, h.id
		  for update of h
		) h`, id).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count hosts in use: %w", err)
	}
	return n, nil
}

// UpdateHostOf works as UpdateHost, for what depends on the state of a cluster, which cannot change
// meanwhile; without a cluster fn gets nil. Of the cluster only id, kind, name, status and whether
// a decision is open are read. It returns an ErrNotFound for a cluster that was deleted.
func (s *Store) UpdateHostOf(
	ctx context.Context, clusterID *uuid.UUID, infraEnvID, id uuid.UUID, fn func(*model.Cluster, *model.Host, *Tx) error,
) error {
	return s.withHostOf(ctx, clusterID, infraEnvID, id, fn, func(tx pgx.Tx, t *Tx, h *model.Host, before record) error {
		return s.writeHost(ctx, tx, t.now, h, before)
	})
}

// DeleteHostOf works as DeleteHost in the same way, for a user: the host does not come back before its next boot.
func (s *Store) DeleteHostOf(
	ctx context.Context, clusterID *uuid.UUID, infraEnvID, id uuid.UUID, fn func(*model.Cluster, *model.Host, *Tx) error,
) error {
	return s.withHostOf(ctx, clusterID, infraEnvID, id, fn, func(_ pgx.Tx, t *Tx, h *model.Host, _ record) error {
		t.deleteHost(h)
		t.batch.Queue(`update hosts set doc = doc || '{"deleted_by_user": true}' where infra_env_id = $1 and id = $2`, h.InfraEnvID, h.ID)
		return nil
	})
}

func (s *Store) withHostOf(
	ctx context.Context, clusterID *uuid.UUID, infraEnvID, id uuid.UUID, fn func(*model.Cluster, *model.Host, *Tx) error,
	write func(pgx.Tx, *Tx, *model.Host, record) error,
) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		c, err := shareCluster(ctx, tx, clusterID)
		if err != nil {
			return err
		}
		h, before, err := s.lockHost(ctx, tx, infraEnvID, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(c, h, t); err != nil {
			return err
		}
		if err := write(tx, t, h, before); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
}

func shareCluster(ctx context.Context, tx pgx.Tx, id *uuid.UUID) (*model.Cluster, error) {
	if id == nil {
		return nil, nil
	}
	c := &model.Cluster{ID: *id}
	err := tx.QueryRow(ctx, `
		select kind, name, status, coalesce((doc->>'decision_open')::boolean, false) from clusters
		where id = $1 and deleted_at is null
		for share`, id).Scan(&c.Kind, &c.Name, &c.Status, &c.DecisionOpen)
	return c, notFound(err, "cluster", *id)
}
