package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/model"
)

// ForwardReported takes one reported row for as long as lease, calls forward, and marks the row done when forward
// succeeds. No connection and no lock is held meanwhile: a process that ends leaves the row to others when the lease is
// over, and one that takes longer may see it forwarded twice. It returns false when there was none, and the error of forward.
func (s *Store) ForwardReported(ctx context.Context, lease time.Duration, forward func(model.PendingActivity) error) (bool, error) {
	now := s.Now()
	i, err := s.scanActivity(s.pool.QueryRow(ctx, `
		update pending_activities set forward_after = $2
		where id = (
		  select id from pending_activities
		  where state = 'reported' and (forward_after is null or forward_after <= $1)
		  order by coalesce(forward_after, reported_at), id
		  limit 1
		  for update skip locked)
		returning `+activityColumns, now, now.Add(lease)))
	if isNoRows(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take reported pending activity: %w", err)
	}
	if err := forward(i); err != nil {
		// Others first: a single stuck row must not hold them up.
		_, uerr := s.pool.Exec(ctx, `
			update pending_activities set forward_after = $2 where id = $1 and state = 'reported'`, i.ID, s.Now())
		return true, errors.Join(err, uerr)
	}
	return true, s.ActivityDone(ctx, i.ID)
}
