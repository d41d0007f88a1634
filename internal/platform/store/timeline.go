package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// PastStep is a step or a stage of a host in the history of an installation. It has neither arguments nor output.
type PastStep struct {
	HostID   uuid.UUID
	Kind     model.ActivityKind
	Type     string
	State    model.ActivityState
	ExitCode int
	Asked    time.Time
	Sent     time.Time // zero: the host has not fetched it
	Ended    time.Time // zero: it has not ended
}

// PastSteps returns the newest steps and stages of hosts in a cluster, newest first, at most so many of each host.
func (s *Store) PastSteps(ctx context.Context, clusterID uuid.UUID, hosts []uuid.UUID, each int) ([]PastStep, error) {
	rows, err := s.pool.Query(ctx, `
		select i.host_id, i.kind, i.type, i.state, i.exit_code, i.created_at, i.sent_at, coalesce(i.reported_at, i.done_at)
		from unnest($2::uuid[]) as h (id)
		cross join lateral (
		  select * from pending_activities a
		  where a.cluster_id = $1 and a.host_id = h.id and a.kind in ('step', 'stage')
		  order by a.created_at desc, a.id
		  limit $3) i
		order by i.created_at desc, i.id`, clusterID, hosts, each)
	if err != nil {
		return nil, fmt.Errorf("list steps of hosts: %w", err)
	}
	steps, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p PastStep, err error) {
		var sent, ended *time.Time
		err = row.Scan(&p.HostID, &p.Kind, &p.Type, &p.State, &p.ExitCode, &p.Asked, &sent, &ended)
		p.Sent, p.Ended = orNone(sent), orNone(ended)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list steps of hosts: %w", err)
	}
	return steps, nil
}
