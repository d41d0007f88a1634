package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// activityRow is a row of table pending_activities. Of a fence, null stands for zero.
type activityRow struct {
	*model.PendingActivity
	Args           []byte             `db:"args"`            // see sealArgs
	Every          int64              `db:"heartbeat_every"` // nanoseconds
	BeatAt         time.Time          `db:"heartbeat_at"`
	Takes          model.HostStatuses `db:"takes"`
	ClusterAttempt *int               `db:"cluster_attempt"`
	HostAttempt    *int               `db:"host_attempt"`
	HostTry        *int               `db:"host_try"`
	Boot           *string            `db:"boot"`
}

var activityTable = tableOf[activityRow](layout{
	name: "pending_activities",
	key:  []string{"id"},
	read: map[string]string{
		"exit_code": "", "output": "", "error": "", "sent_at": "", "reported_at": "", "done_at": "",
	},
})

var activityColumns = activityTable.selects()

// insertActivity writes a pending row, or gives the existing row the new task token.
func (s *Store) insertActivity(ctx context.Context, tx pgx.Tx, now time.Time, i model.PendingActivity) error {
	i.State, i.CreatedAt = model.ActivityPending, now
	row := activityRow{
		PendingActivity: &i, Every: int64(i.HeartbeatEvery), BeatAt: now, Takes: i.Fence.Takes,
		ClusterAttempt: orNull(i.Fence.ClusterAttempt), HostAttempt: orNull(i.Fence.HostAttempt), HostTry: orNull(i.Fence.HostTry),
		Boot: orNull(i.Fence.Boot),
	}
	var err error
	if row.Args, err = s.sealArgs(i); err != nil {
		return err
	}
	sql, args := activityTable.insert(activityTable.record(&row))
	_, err = tx.Exec(ctx, sql+`
		on conflict (id) do update set
		  task_token = excluded.task_token, attempt = excluded.attempt, heartbeat_at = excluded.heartbeat_at,
		  workflow_id = excluded.workflow_id, run_id = excluded.run_id, activity_id = excluded.activity_id,
		  state = case
		    when pending_activities.state = 'sent' and pending_activities.run_id = excluded.run_id then 'pending'
		    else pending_activities.state end`, args...)
	if err != nil {
		return fmt.Errorf("write pending activity %s: %w", i.ID, err)
	}
	return nil
}

func (s *Store) scanActivity(from pgx.Row) (model.PendingActivity, error) {
	var i model.PendingActivity
	row := activityRow{PendingActivity: &i}
	if err := activityTable.scan(from, &row); err != nil {
		return i, err
	}
	i.HeartbeatEvery = time.Duration(row.Every)
	i.Fence = model.Fence{
		Takes: row.Takes, ClusterAttempt: orNone(row.ClusterAttempt), HostAttempt: orNone(row.HostAttempt), HostTry: orNone(row.HostTry),
		Boot: orNone(row.Boot),
	}
	err := s.openArgs(row.Args, &i)
	return i, err
}

// sealArgs seals the arguments, JSON, for the row: they may contain passwords of proxies.
func (s *Store) sealArgs(i model.PendingActivity) ([]byte, error) {
	if len(i.Args) == 0 {
		return []byte("[]"), nil
	}
	sealed, err := s.seal(sealedActivities, i.Args, i.ClusterID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed) // a string in base64
}

// openArgs reads what sealArgs wrote. Rows of earlier versions have a list in clear.
func (s *Store) openArgs(args []byte, i *model.PendingActivity) error {
	var sealed []byte
	if json.Unmarshal(args, &sealed) == nil && sealed != nil {
		return s.open(sealedActivities, sealed, i.ClusterID, &i.Args)
	}
	if err := json.Unmarshal(args, &i.Args); err != nil {
		return fmt.Errorf("decode arguments of %s: %w", i.ID, err)
	}
	return nil
}

func orNone[T int | string | time.Time](v *T) T {
	if v == nil {
		return *new(T)
	}
	return *v
}

func orNull[T int | string](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
