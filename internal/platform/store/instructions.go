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

const instructionColumns = `
	id, kind, state, cluster_id, infra_env_id, host_id, type, args, workflow_id, run_id, activity_id, task_token, attempt,
	heartbeat_every, exit_code, output, error, created_at, sent_at, reported_at, done_at`

// ArmInstruction writes the row of an activity, or gives the existing row of an earlier
// attempt the new task token; fn runs in the same transaction and may finish the row at
// once (see Tx.StageReached). Rows of the same workflow from an older run are voided.
// The row as it then stands is returned: a reported or done one needs no waiting.
func (s *Store) ArmInstruction(ctx context.Context, i model.Instruction, fn func(*Tx) error) (model.Instruction, error) {
	args, err := json.Marshal(i.Args)
	if err != nil {
		return i, fmt.Errorf("encode arguments of %s: %w", i.ID, err)
	}
	var out model.Instruction
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		_, err := tx.Exec(ctx, `
			insert into instructions as i (id, kind, state, cluster_id, infra_env_id, host_id, type, args, workflow_id, run_id, activity_id,
			  task_token, attempt, heartbeat_every, heartbeat_at, created_at)
			values ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
			on conflict (id) do update set
			  task_token = $11, attempt = $12, heartbeat_at = $14,
			  state = case when i.state = 'sent' then 'pending' else i.state end`,
			i.ID, i.Kind, i.ClusterID, i.InfraEnvID, i.HostID, i.Type, args, i.WorkflowID, i.RunID, i.ActivityID,
			i.TaskToken, i.Attempt, int64(i.HeartbeatEvery), t.now)
		if err != nil {
			return fmt.Errorf("write instruction %s: %w", i.ID, err)
		}
		t.batch.Queue(`
			update instructions set state = 'superseded', done_at = $3
			where workflow_id = $1 and run_id <> $2 and state in ('pending', 'sent', 'reported')`, i.WorkflowID, i.RunID, t.now)
		if err := fn(t); err != nil {
			return err
		}
		if i.HostID != nil {
			t.notify(channelHosts, i.HostID.String())
		}
		if err := t.flush(ctx, tx); err != nil {
			return err
		}
		out, err = scanInstruction(tx.QueryRow(ctx, `select `+instructionColumns+` from instructions where id = $1`, i.ID))
		return err
	})
	return out, err
}

// TakeSteps hands out the open steps of a host, oldest first, and marks them sent.
func (s *Store) TakeSteps(ctx context.Context, infraEnvID, hostID uuid.UUID) ([]model.Instruction, error) {
	rows, err := s.pool.Query(ctx, `
		with open as (
		  select id from instructions
		  where infra_env_id = $1 and host_id = $2 and kind = 'step' and state in ('pending', 'sent')
		  for update
		), taken as (
		  update instructions set state = 'sent', sent_at = coalesce(sent_at, $3)
		  where id in (select id from open)
		  returning *
		)
		select `+instructionColumns+` from taken order by created_at, id`, infraEnvID, hostID, s.Now())
	if err != nil {
		return nil, fmt.Errorf("take steps of host %s: %w", hostID, err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.Instruction, error) { return scanInstruction(row) })
}

// Reply is what an agent answered.
type Reply struct {
	StepID   string
	ExitCode int
	Output   string // at most 32 KiB is kept
	Error    string
}

const maxKeptOutput = 32 << 10

// StepReplied records a reply. It is false when the id is not an open step of the
// host: a discovery step, a second reply, or one that was voided.
func (t *Tx) StepReplied(h *model.Host, r Reply) {
	output := r.Output
	if len(output) > maxKeptOutput {
		output = output[:maxKeptOutput]
	}
	t.batch.Queue(`
		update instructions set state = 'reported', reported_at = $7, exit_code = $4, output = $5, error = $6
		where id = $3 and infra_env_id = $1 and host_id = $2 and kind = 'step' and state in ('pending', 'sent')`,
		h.InfraEnvID, h.ID, r.StepID, r.ExitCode, sanitize(output), sanitize(r.Error), t.now)
	t.notify(channelReported, r.StepID)
}

// sanitize drops what PostgreSQL text cannot hold: NUL and broken UTF-8, also the
// half character a cut may leave.
func sanitize(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r != 0 && r != '\uFFFD' {
			out = append(out, r)
		}
	}
	return string(out)
}

// ForwardReported locks one reported instruction nobody else forwards, calls forward,
// and marks it done when forward succeeds. It is false when there was none.
func (s *Store) ForwardReported(ctx context.Context, forward func(model.Instruction) error) (bool, error) {
	found := false
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		i, err := scanInstruction(tx.QueryRow(ctx, `
			select `+instructionColumns+` from instructions
			where state = 'reported'
			order by reported_at, id
			limit 1
			for update skip locked`))
		if isNoRows(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read reported instruction: %w", err)
		}
		found = true
		if err := forward(i); err != nil {
			// Later ones first: a single stuck row must not hold up the others.
			_, uerr := tx.Exec(ctx, `update instructions set reported_at = $2 where id = $1`, i.ID, s.Now())
			return uerr
		}
		_, err = tx.Exec(ctx, `update instructions set state = 'done', done_at = $2 where id = $1`, i.ID, s.Now())
		return err
	})
	return found, err
}

// InstructionDone marks a row whose result its activity returned itself.
func (s *Store) InstructionDone(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, `
		update instructions set state = 'done', done_at = $2 where id = $1 and state <> 'done'`, id, s.Now())
	return err
}

// DueHeartbeats claims the open instructions whose heartbeat is due: stages and
// milestones always, steps only while their host polls (heard of within `alive`).
func (s *Store) DueHeartbeats(ctx context.Context, alive time.Duration) ([]model.Instruction, error) {
	now := s.Now()
	rows, err := s.pool.Query(ctx, `
		update instructions i set heartbeat_at = $1
		from (
		  select i.id from instructions i
		  left join host_checkins k on k.infra_env_id = i.infra_env_id and k.host_id = i.host_id
		  where i.state in ('pending', 'sent')
		    and i.heartbeat_at + make_interval(secs => i.heartbeat_every / 1e9) <= $1
		    and (i.kind <> 'step' or k.checked_in_at >= $2)
		  for update of i skip locked
		) due
		where due.id = i.id
		returning `+prefixed("i.", instructionColumns), now, now.Add(-alive))
	if err != nil {
		return nil, fmt.Errorf("claim heartbeats: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.Instruction, error) { return scanInstruction(row) })
}

// Instructions lists every instruction of a cluster in order of creation.
func (s *Store) Instructions(ctx context.Context, clusterID uuid.UUID) ([]model.Instruction, error) {
	rows, err := s.pool.Query(ctx, `
		select `+instructionColumns+` from instructions where cluster_id = $1 order by created_at, id`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list instructions: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.Instruction, error) { return scanInstruction(row) })
}

func scanInstruction(row pgx.Row) (model.Instruction, error) {
	var i model.Instruction
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
		select distinct cluster_id from instructions
		where kind = 'milestone' and state in ('pending', 'sent')
		order by cluster_id`)
	if err != nil {
		return nil, fmt.Errorf("list open milestones: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

// LastStep is the newest step of a type that a workflow asked a host for.
func (s *Store) LastStep(ctx context.Context, workflowID, runID, stepType string) (model.Instruction, error) {
	i, err := scanInstruction(s.pool.QueryRow(ctx, `
		select `+instructionColumns+` from instructions
		where workflow_id = $1 and run_id = $2 and kind = 'step' and type = $3
		order by created_at desc, id
		limit 1`, workflowID, runID, stepType))
	return i, notFound(err, "step", stepType)
}
