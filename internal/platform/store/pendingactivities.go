package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

const activityColumns = `
	id, kind, state, cluster_id, infra_env_id, host_id, type, args, workflow_id, run_id, activity_id, task_token, attempt,
	heartbeat_every, exit_code, output, error, created_at, sent_at, reported_at, done_at`

// ArmActivity writes the row of an activity, or gives the existing row of an earlier
// attempt the new task token. Rows of the same workflow from an older run are voided.
// The row as it then stands is returned: a reported or done one needs no waiting.
func (s *Store) ArmActivity(ctx context.Context, i model.PendingActivity) (model.PendingActivity, error) {
	args, err := json.Marshal(i.Args)
	if err != nil {
		return i, fmt.Errorf("encode arguments of %s: %w", i.ID, err)
	}
	var out model.PendingActivity
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		_, err := tx.Exec(ctx, `
			insert into pending_activities as i (id, kind, state, cluster_id, infra_env_id, host_id, type, args,
			  workflow_id, run_id, activity_id, task_token, attempt, heartbeat_every, heartbeat_at, created_at)
			values ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
			on conflict (id) do update set
			  task_token = $11, attempt = $12, heartbeat_at = $14,
			  state = case when i.state = 'sent' then 'pending' else i.state end`,
			i.ID, i.Kind, i.ClusterID, i.InfraEnvID, i.HostID, i.Type, args, i.WorkflowID, i.RunID, i.ActivityID,
			i.TaskToken, i.Attempt, int64(i.HeartbeatEvery), t.now)
		if err != nil {
			return fmt.Errorf("write pending activity %s: %w", i.ID, err)
		}
		t.batch.Queue(`
			update pending_activities set state = 'superseded', done_at = $3
			where workflow_id = $1 and run_id <> $2 and state in ('pending', 'sent', 'reported')`, i.WorkflowID, i.RunID, t.now)
		if i.HostID != nil {
			t.notify(channelHosts, i.HostID.String())
		}
		if err := t.flush(ctx, tx); err != nil {
			return err
		}
		out, err = scanActivity(tx.QueryRow(ctx, `select `+activityColumns+` from pending_activities where id = $1`, i.ID))
		return err
	})
	return out, err
}

// Reply is what an agent answered.
type Reply struct {
	StepID   string
	ExitCode int
	Output   string // at most 32 KiB is kept
	Error    string
}

const maxKeptOutput = 32 << 10

// StepReplied records a reply. It changes nothing when the id is not an open step of
// the host: a discovery step, a second reply, or one that was voided.
func (t *Tx) StepReplied(h *model.Host, r Reply) {
	output := r.Output
	if len(output) > maxKeptOutput {
		output = output[:maxKeptOutput]
	}
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $7, exit_code = $4, output = $5, error = $6
		where id = $3 and infra_env_id = $1 and host_id = $2 and kind = 'step' and state in ('pending', 'sent')`,
		h.InfraEnvID, h.ID, r.StepID, r.ExitCode, sanitize(output), sanitize(r.Error), t.now)
	t.notify(channelReported, r.StepID)
}

// sanitize drops what PostgreSQL text cannot hold: NUL and broken UTF-8, including the half character that
// truncation may leave.
func sanitize(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r != 0 && r != '\uFFFD' {
			out = append(out, r)
		}
	}
	return string(out)
}

// ForwardReported locks one reported row that no other process forwards, calls forward,
// and marks the row done when forward succeeds. It returns false when there was none.
func (s *Store) ForwardReported(ctx context.Context, forward func(model.PendingActivity) error) (bool, error) {
	found := false
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		i, err := scanActivity(tx.QueryRow(ctx, `
			select `+activityColumns+` from pending_activities
			where state = 'reported'
			order by reported_at, id
			limit 1
			for update skip locked`))
		if isNoRows(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read reported pending activity: %w", err)
		}
		found = true
		if err := forward(i); err != nil {
			// Later ones first: a single stuck row must not hold up the others.
			_, uerr := tx.Exec(ctx, `update pending_activities set reported_at = $2 where id = $1`, i.ID, s.Now())
			return uerr
		}
		_, err = tx.Exec(ctx, `update pending_activities set state = 'done', done_at = $2 where id = $1`, i.ID, s.Now())
		return err
	})
	return found, err
}

// ActivityDone marks a row whose result its activity returned itself.
func (s *Store) ActivityDone(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, `
		update pending_activities set state = 'done', done_at = $2 where id = $1 and state <> 'done'`, id, s.Now())
	return err
}

// DueHeartbeats claims the open rows whose heartbeat is due: stages and milestones
// always, steps only while their host polls (heard of within `alive`).
func (s *Store) DueHeartbeats(ctx context.Context, alive time.Duration) ([]model.PendingActivity, error) {
	now := s.Now()
	rows, err := s.pool.Query(ctx, `
		update pending_activities i set heartbeat_at = $1
		from (
		  select i.id from pending_activities i
		  left join host_checkins k on k.infra_env_id = i.infra_env_id and k.host_id = i.host_id
		  where i.state in ('pending', 'sent')
		    and i.heartbeat_at + make_interval(secs => i.heartbeat_every / 1e9) <= $1
		    and (i.kind <> 'step' or k.checked_in_at >= $2)
		  for update of i skip locked
		) due
		where due.id = i.id
		returning `+prefixed("i.", activityColumns), now, now.Add(-alive))
	if err != nil {
		return nil, fmt.Errorf("claim heartbeats: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return scanActivity(row) })
}

// PendingActivities lists every row of a cluster in order of creation.
func (s *Store) PendingActivities(ctx context.Context, clusterID uuid.UUID) ([]model.PendingActivity, error) {
	rows, err := s.pool.Query(ctx, `
		select `+activityColumns+` from pending_activities where cluster_id = $1 order by created_at, id`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list pending activities: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return scanActivity(row) })
}

func scanActivity(row pgx.Row) (model.PendingActivity, error) {
	var i model.PendingActivity
	var args []byte
	var every int64
	var sent, reported, done *time.Time
	err := row.Scan(&i.ID, &i.Kind, &i.State, &i.ClusterID, &i.InfraEnvID, &i.HostID, &i.Type, &args, &i.WorkflowID, &i.RunID,
		&i.ActivityID, &i.TaskToken, &i.Attempt, &every, &i.ExitCode, &i.Output, &i.Error, &i.CreatedAt, &sent, &reported, &done)
	if err != nil {
		return i, err
	}
	i.HeartbeatEvery = time.Duration(every)
	i.SentAt, i.ReportedAt, i.DoneAt = orZero(sent), orZero(reported), orZero(done)
	if err := json.Unmarshal(args, &i.Args); err != nil {
		return i, fmt.Errorf("decode arguments of %s: %w", i.ID, err)
	}
	return i, nil
}

// OpenMilestones lists the clusters whose workflow waits for a milestone.
func (s *Store) OpenMilestones(ctx context.Context) ([]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, `
		select distinct cluster_id from pending_activities
		where kind = 'milestone' and state in ('pending', 'sent')
		order by cluster_id`)
	if err != nil {
		return nil, fmt.Errorf("list open milestones: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

// LastStep is the newest step of a type that a workflow asked a host for.
func (s *Store) LastStep(ctx context.Context, workflowID, runID, stepType string) (model.PendingActivity, error) {
	i, err := scanActivity(s.pool.QueryRow(ctx, `
		select `+activityColumns+` from pending_activities
		where workflow_id = $1 and run_id = $2 and kind = 'step' and type = $3
		order by created_at desc, id
		limit 1`, workflowID, runID, stepType))
	return i, notFound(err, "step", stepType)
}
