package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// standing reports whether what a row of kind status waits for holds already. The host or cluster stays locked: whoever
// changes its status afterwards finds the row.
func standing(ctx context.Context, tx pgx.Tx, i model.PendingActivity) (reached bool, err error) {
	var status string
	if i.HostID == nil {
		err = tx.QueryRow(ctx, `
			select status from clusters where id = $1 and deleted_at is null for share`, i.ClusterID).Scan(&status)
		err = notFound(err, "cluster", i.ClusterID)
	} else {
		err = tx.QueryRow(ctx, `
			select status from hosts where infra_env_id = $1 and id = $2 and deleted_at is null for share`, i.InfraEnvID, i.HostID).Scan(&status)
		err = notFound(err, "host", *i.HostID)
	}
	return i.Reached(status), err
}

// hostReached completes the rows that wait for the status a host has now.
func hostReached(b *pgx.Batch, h *model.Host, now time.Time) {
	b.Queue(`
		with reached as (
		  update pending_activities i set state = 'reported', reported_at = $4
		  where i.kind = 'status' and i.infra_env_id = $1 and i.host_id = $2 and i.state in ('pending', 'sent')
		    and (i.type = 'left') <> ($3::text = any (i.awaited))
		  returning i.id
		)
		select pg_notify($5, id) from reached`,
		h.InfraEnvID, h.ID, h.Status, now, channelReported)
}

// clusterReached completes the rows that wait for the status a cluster has now.
func clusterReached(b *pgx.Batch, c *model.Cluster, now time.Time) {
	b.Queue(`
		with reached as (
		  update pending_activities i set state = 'reported', reported_at = $3
		  where i.kind = 'status' and i.cluster_id = $1 and i.host_id is null and i.state in ('pending', 'sent')
		    and (i.type = 'left') <> ($2::text = any (i.awaited))
		  returning i.id
		)
		select pg_notify($4, id) from reached`,
		c.ID, c.Status, now, channelReported)
}

// CompleteStatuses completes the rows whose host or cluster stands where they wait for it: a service of an earlier version
// changes statuses without looking at them.
func (s *Store) CompleteStatuses(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `
		with reached as (
		  select i.id from pending_activities i
		  left join hosts h on h.infra_env_id = i.infra_env_id and h.id = i.host_id and h.deleted_at is null
		  left join clusters c on i.host_id is null and c.id = i.cluster_id and c.deleted_at is null
		  where i.kind = 'status' and i.state in ('pending', 'sent') and (i.type = 'left') <> (coalesce(h.status, c.status) = any (i.awaited))
		  for update of i skip locked
		)
		update pending_activities set state = 'reported', reported_at = $1 where id in (select id from reached)`, s.Now())
	if err != nil {
		return fmt.Errorf("complete awaited statuses: %w", err)
	}
	return nil
}
