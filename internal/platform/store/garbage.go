package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// idleClusters are clusters that are not being installed: they are unchanged since an instant, none of their
// hosts was heard of since, and no workflow refers to them.
const idleClusters = `
	c.deleted_at is null and c.status in ('insufficient', 'pending-for-input', 'ready', 'error', 'cancelled')
	and c.updated_at < @since and c.workflow_started and not coalesce((c.doc->>'decision_open')::boolean, false)
	and not exists (
	  select from hosts h
	  left join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id
	  where h.cluster_id = c.id and h.deleted_at is null
	    and (greatest(k.checked_in_at, h.created_at) >= @since or coalesce((h.doc->>'decision_open')::boolean, false)))
	and not exists (
	  select from pending_activities i where i.cluster_id = c.id and i.state in ('pending', 'sent', 'reported'))`

// idleInfraEnvs are InfraEnvs without a cluster, unchanged since an instant, with no host in use by a cluster
// and none heard of since.
const idleInfraEnvs = `
	e.deleted_at is null and e.cluster_id is null and e.updated_at < @since
	and not exists (
	  select from hosts h
	  left join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id
	  where h.infra_env_id = e.id and h.deleted_at is null
	    and (h.cluster_id is not null or greatest(k.checked_in_at, h.created_at) >= @since))`

// IdleClusters lists clusters that are idle since an instant, oldest first, after one that was listed before.
func (s *Store) IdleClusters(ctx context.Context, since time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return s.garbage(
		ctx,
		"idle clusters",
		`select c.id from clusters c where c.id > @after and `+idleClusters+` order by c.id limit @limit`,
		since,
		after,
		limit,
	)
}

// IdleInfraEnvs lists InfraEnvs that are idle since an instant.
func (s *Store) IdleInfraEnvs(ctx context.Context, since time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return s.garbage(
		ctx,
		"idle infra-envs",
		`select e.id from infra_envs e where e.id > @after and `+idleInfraEnvs+` order by e.id limit @limit`,
		since,
		after,
		limit,
	)
}

// DeletedClusters lists clusters that were deleted before an instant.
func (s *Store) DeletedClusters(ctx context.Context, before time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return s.garbage(
		ctx,
		"deleted clusters",
		`select id from clusters where id > @after and deleted_at < @since order by id limit @limit`,
		before,
		after,
		limit,
	)
}

// DeletedInfraEnvs lists InfraEnvs that were deleted before an instant and whose hosts no existing cluster
// refers to.
func (s *Store) DeletedInfraEnvs(ctx context.Context, before time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return s.garbage(ctx, "deleted infra-envs", `
		select e.id from infra_envs e
		where e.id > @after and e.deleted_at < @since
		  and not exists (select from hosts h where h.infra_env_id = e.id and (h.deleted_at is null or h.deleted_at >= @since))
		order by e.id limit @limit`, before, after, limit)
}

func (s *Store) garbage(ctx context.Context, what, sql string, at time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, sql, pgx.NamedArgs{"since": at, "after": after, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", what, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", what, err)
	}
	return ids, nil
}

// errBusy ends the deletion of an object that is in use again.
var errBusy = errors.New("in use again")

// DeleteIdleCluster deletes a cluster that is still idle now that its row is locked; it returns false when the
// cluster is in use again, or deleted already.
func (s *Store) DeleteIdleCluster(ctx context.Context, id uuid.UUID, since time.Time, fn DeletesCluster) (bool, error) {
	return s.deleteIdle(ctx, func(tx pgx.Tx) error {
		return s.deleteCluster(ctx, tx, id, func(c *model.Cluster, borrowed []*model.Host, t *Tx) error {
			if err := stillIdle(
				ctx, tx, `select exists (select from clusters c where c.id = @id and `+idleClusters+`)`, id, since,
			); err != nil {
				return err
			}
			return fn(c, borrowed, t)
		})
	})
}

// DeleteIdleInfraEnv works as DeleteIdleCluster, for an InfraEnv, with its hosts.
func (s *Store) DeleteIdleInfraEnv(ctx context.Context, id uuid.UUID, since time.Time, fn func(*model.InfraEnv, *Tx)) (bool, error) {
	return s.deleteIdle(ctx, func(tx pgx.Tx) error {
		if err := stillIdle(
			ctx, tx, `select exists (select from infra_envs e where e.id = @id and `+idleInfraEnvs+`)`, id, since,
		); err != nil {
			return err
		}
		return s.deleteInfraEnv(ctx, tx, id, fn)
	})
}

func (s *Store) deleteIdle(ctx context.Context, remove func(tx pgx.Tx) error) (bool, error) {
	err := s.inTx(ctx, remove)
	if errors.Is(err, errBusy) || errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func stillIdle(ctx context.Context, tx pgx.Tx, sql string, id uuid.UUID, since time.Time) error {
	var idle bool
	if err := tx.QueryRow(ctx, sql, pgx.NamedArgs{"id": id, "since": since}).Scan(&idle); err != nil {
		return fmt.Errorf("look whether %s is idle: %w", id, err)
	}
	if !idle {
		return errBusy
	}
	return nil
}

// IdleHosts lists hosts in no cluster that fell silent before an instant, at most so many.
func (s *Store) IdleHosts(ctx context.Context, since time.Time, limit int) ([]HostKey, error) {
	rows, err := s.pool.Query(ctx, `
		select h.infra_env_id, h.id from hosts h
		join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id
		where h.cluster_id is null and h.deleted_at is null and h.status = 'disconnected-unbound' and k.checked_in_at < $1
		order by h.infra_env_id, h.id
		limit $2`, since, limit)
	if err != nil {
		return nil, fmt.Errorf("find idle hosts: %w", err)
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[HostKey])
	if err != nil {
		return nil, fmt.Errorf("find idle hosts: %w", err)
	}
	return hosts, nil
}

// DeleteIdleHost works as DeleteIdleCluster, for a host in no cluster.
func (s *Store) DeleteIdleHost(ctx context.Context, key HostKey, since time.Time, fn func(*model.Host, *Tx)) (bool, error) {
	err := s.DeleteHost(ctx, key.InfraEnvID, key.HostID, func(h *model.Host, t *Tx) error {
		if h.ClusterID != nil || h.Status != model.HostDisconnectedUnbound || !h.CheckedInAt.Before(since) {
			return errBusy
		}
		fn(h, t)
		return nil
	})
	if errors.Is(err, errBusy) || errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
