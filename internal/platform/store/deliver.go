package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// DeliverSteps returns the steps that a host has not received yet, and again those it received before `again`
// and has not answered, oldest first. The zero time repeats none.
func (s *Store) DeliverSteps(ctx context.Context, infraEnvID, hostID uuid.UUID, again time.Time) ([]model.PendingActivity, error) {
	rows, err := s.pool.Query(ctx, `
		with open as (
		  select id from pending_activities
		  where infra_env_id = $1 and host_id = $2 and kind = 'step'
		    and (state = 'pending' or state = 'sent' and sent_at < $3)
		  for update
		), taken as (
		  update pending_activities set state = 'sent', sent_at = $4
		  where id in (select id from open)
		  returning *
		)
		select `+activityColumns+` from taken order by created_at, id`, infraEnvID, hostID, again, s.Now())
	if err != nil {
		return nil, fmt.Errorf("deliver steps of host %s: %w", hostID, err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return scanActivity(row) })
}

// WakeHosts wakes the long polls of hosts, in every process.
func (t *Tx) WakeHosts(ids ...uuid.UUID) {
	for _, id := range ids {
		t.notify(channelHosts, id.String())
	}
}
