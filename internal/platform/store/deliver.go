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
// and has not answered, oldest first. The zero time repeats none. Steps whose fence does not hold are not handed out: the
// row of the host is locked meanwhile, so that neither an attempt nor a boot ends between the look and the handing out.
func (s *Store) DeliverSteps(ctx context.Context, infraEnvID, hostID uuid.UUID, again time.Time) ([]model.PendingActivity, error) {
	rows, err := s.pool.Query(ctx, `
		with held as (`+heldHost+`
		), open as (
		  select i.id from pending_activities i, held
		  left join clusters c on c.id = held.cluster_id
		  where i.infra_env_id = $1 and i.host_id = $2 and i.kind = 'step'
		    and (i.state = 'pending' or i.state = 'sent' and i.sent_at < $3)
		    and `+fenceHolds+` and `+bootHolds+`
		  for update of i
		), taken as (
		  update pending_activities set state = 'sent', sent_at = $4
		  where id in (select id from open)
		  returning *
		)
		select `+activityColumns+` from taken order by created_at, id`, infraEnvID, hostID, again, s.Now())
	if err != nil {
		return nil, fmt.Errorf("deliver steps of host %s: %w", hostID, err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return s.scanActivity(row) })
}

// heldHost is the host $2 of the InfraEnv $1, as far as fences look at it, locked.
const heldHost = `
	select h.status, (h.doc->>'workflow_attempt')::int as attempt, h.boot, h.cluster_id
	from hosts h
	where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null
	for share`

// fenceHolds says in SQL whether status and attempts of the fence of the step i hold for its host, held, and the cluster c
// of that, bootHolds whether the host is in the boot the step was commanded for.
const fenceHolds = `(i.takes is null or held.status = any (i.takes))
  and (i.cluster_attempt is null or c.install_attempt = i.cluster_attempt)
  and (i.host_attempt is null or held.attempt = i.host_attempt)`

const bootHolds = `(i.boot is null or held.boot = i.boot)`

// WakeHosts wakes the long polls of hosts, in every process.
func (t *Tx) WakeHosts(ids ...uuid.UUID) {
	for _, id := range ids {
		t.notify(channelHosts, id.String())
	}
}
