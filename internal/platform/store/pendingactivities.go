package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// ArmActivity writes the row of an activity, or gives the existing row of an earlier attempt the new task token. A step that an older run
// of the workflow commanded in the same try of the host becomes this run's: it is not commanded twice. Other rows of older runs are
// voided, but for what the host has in this try, and open ones of the same step and host: its workflow waits for the newest only. The row
// as it then stands is returned: a reported or done one needs no waiting. A step whose fence does not hold is not written: it is an
// ErrConflict, or an ErrUnavailable where its host alone has booted again, which may be asked for once more. Without its cluster, or the
// host of a step, it is an ErrNotFound.
func (s *Store) ArmActivity(ctx context.Context, i model.PendingActivity) (model.PendingActivity, error) {
	var out model.PendingActivity
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		// The row refers to its cluster. Without this the reference would be locked after the host, against the order of changes
		// of a cluster and its hosts.
		if err := tx.QueryRow(ctx, `select from clusters where id = $1 for key share`, i.ClusterID).Scan(); err != nil {
			return notFound(err, "cluster", i.ClusterID)
		}
		reached, err := s.mayArm(ctx, tx, &i)
		if err != nil {
			return err
		}
		if err := s.insertActivity(ctx, tx, t.now, i); err != nil {
			return err
		}
		if i.Kind == model.ActivityStep {
			t.batch.Queue(`
				update pending_activities set state = 'superseded', done_at = $5
				where workflow_id = $1 and run_id = $2 and kind = 'step' and type = $3 and id <> $4 and infra_env_id = $6 and host_id = $7
				  and state in ('pending', 'sent')`,
				i.WorkflowID, i.RunID, i.Type, i.ID, t.now, i.InfraEnvID, i.HostID)
		}
		// What the host has, or has answered, in this try stays: this run asks for it when it gets there.
		t.batch.Queue(`
			update pending_activities set state = 'superseded', done_at = $3
			where workflow_id = $1 and run_id <> $2 and state in ('pending', 'sent', 'reported')
			  and not (kind = 'step' and state <> 'pending' and infra_env_id is not distinct from $4 and host_id is not distinct from $5
			    and coalesce(host_try = nullif($6::int, 0), false)
			    and cluster_attempt is not distinct from nullif($7::int, 0) and host_attempt is not distinct from nullif($8::int, 0))`,
			i.WorkflowID, i.RunID, t.now, i.InfraEnvID, i.HostID, i.Fence.HostTry, i.Fence.ClusterAttempt, i.Fence.HostAttempt)
		if reached {
			t.batch.Queue(`update pending_activities set state = 'reported', reported_at = $2 where id = $1 and state = 'pending'`, i.ID, t.now)
		}
		if i.HostID != nil {
			t.notify(channelHosts, i.HostID.String())
		}
		if err := t.flush(ctx, tx); err != nil {
			return err
		}
		out, err = s.scanActivity(tx.QueryRow(ctx, `select `+activityColumns+` from pending_activities where id = $1`, i.ID))
		return err
	})
	return out, err
}

// mayArm checks that an activity may be armed, and gives a step its id. It reports whether a status that is waited for holds already.
func (s *Store) mayArm(ctx context.Context, tx pgx.Tx, i *model.PendingActivity) (reached bool, err error) {
	switch i.Kind {
	case model.ActivityStatus:
		return standing(ctx, tx, *i)
	case model.ActivityStep:
		if err := passFence(ctx, tx, *i); err != nil {
			return false, err
		}
		i.ID, err = takenOver(ctx, tx, *i)
	}
	return false, err
}

// takenOver returns the id under which a step is commanded: the id of the newest step of its type in the same try of the host, if it was
// done, if another run of a workflow commanded it and it did not fail, or if this activity has taken it over already; else its own.
func takenOver(ctx context.Context, tx pgx.Tx, i model.PendingActivity) (string, error) {
	if i.Fence.HostTry == 0 {
		return i.ID, nil
	}
	var newest model.PendingActivity
	err := tx.QueryRow(ctx, `
		select id, run_id, activity_id, state, coalesce(exit_code, 0) from pending_activities
		where kind = 'step' and infra_env_id = $1 and host_id = $2 and cluster_id = $3 and type = $4
		  and host_try = $5 and cluster_attempt is not distinct from nullif($6::int, 0) and host_attempt is not distinct from nullif($7::int, 0)
		order by created_at desc, id
		limit 1
		for update`,
		i.InfraEnvID, i.HostID, i.ClusterID, i.Type, i.Fence.HostTry, i.Fence.ClusterAttempt, i.Fence.HostAttempt,
	).Scan(&newest.ID, &newest.RunID, &newest.ActivityID, &newest.State, &newest.ExitCode)
	switch {
	case isNoRows(err):
		return i.ID, nil
	case err != nil:
		return "", fmt.Errorf("look for an earlier %s: %w", i.Type, err)
	case newest.RunID == i.RunID && newest.ActivityID == i.ActivityID:
		return newest.ID, nil
	case succeeded(newest):
		return newest.ID, nil
	case newest.RunID == i.RunID, newest.State == model.ActivitySuperseded, newest.State == model.ActivityDone:
		return i.ID, nil
	}
	return newest.ID, nil
}

// passFence refuses a step that its host must not be given. It locks the host before anything is written, in the order of
// other changes of a host and its steps.
func passFence(ctx context.Context, tx pgx.Tx, i model.PendingActivity) error {
	var holds, sameBoot bool
	var status model.HostStatus
	err := tx.QueryRow(ctx, `
		with held as (`+heldHost+`)
		select `+fenceHolds+`, `+bootHolds+`, held.status
		from (select $3::text[] as takes, nullif($4::int, 0) as cluster_attempt, nullif($5::int, 0) as host_attempt,
		  nullif($6, '') as boot) i
		cross join held
		left join clusters c on c.id = held.cluster_id`,
		i.InfraEnvID, i.HostID, i.Fence.Takes, i.Fence.ClusterAttempt, i.Fence.HostAttempt, i.Fence.Boot).
		Scan(&holds, &sameBoot, &status)
	if err != nil {
		return notFound(err, "host", *i.HostID)
	}
	switch {
	case !holds:
		return model.Conflictf("%s is not for this host any more: it is %s, or in another attempt", i.Type, status)
	case !sameBoot:
		return fmt.Errorf("%w: host %s registered another boot while %s was commanded", model.ErrUnavailable, *i.HostID, i.Type)
	}
	return nil
}

// succeeded reports whether a step was done, whether its workflow knows or not.
func succeeded(i model.PendingActivity) bool {
	return (i.State == model.ActivityReported || i.State == model.ActivityDone) && i.ExitCode == 0
}

// VoidUnsent voids the newest step of a type that a workflow asked a host for, unless the host was given it, and reports
// whether it was: a step that was not can be asked for once more, and so can one that was done: asking finds its result.
func (s *Store) VoidUnsent(ctx context.Context, workflowID, runID, stepType string) (sent bool, err error) {
	last, err := s.LastStep(ctx, workflowID, runID, stepType)
	if err != nil || succeeded(last) {
		return false, err
	}
	changed, err := s.pool.Exec(ctx, `
		update pending_activities set state = 'superseded', done_at = $2
		where id = $1 and sent_at is null and state in ('pending', 'superseded')`, last.ID, s.Now())
	if err != nil {
		return false, fmt.Errorf("void step %s: %w", last.ID, err)
	}
	return changed.RowsAffected() == 0, nil
}

// Reply is an agent's answer.
type Reply struct {
	StepID   string
	ExitCode int
	Output   string // at most 32 KiB is kept
	Error    string
	// ByType is the type of the step for a reply that counts whatever id it has; empty for others.
	ByType string
}

const maxKeptOutput = 32 << 10

// StepReplied records a reply. It changes nothing when the id is not an open step of
// the host: a discovery step, a second reply, or one that was voided. A reply that counts by its type is one to the open step
// of that type when no step of the host has its id.
func (t *Tx) StepReplied(h *model.Host, r Reply) {
	output := r.Output
	if len(output) > maxKeptOutput {
		output = output[:maxKeptOutput]
	}
	t.batch.Queue(`
		update pending_activities i set state = 'reported', reported_at = $7, exit_code = $4, output = $5, error = $6
		where infra_env_id = $1 and host_id = $2 and kind = 'step' and state in ('pending', 'sent')
		  and (id = $3 or type = $8 and not exists (
		    select from pending_activities k where k.infra_env_id = $1 and k.host_id = $2 and k.id = $3))`,
		h.InfraEnvID, h.ID, r.StepID, r.ExitCode, sanitize(output), sanitize(r.Error), t.now, r.ByType)
	t.notify(channelReported, cmp.Or(r.StepID, h.ID.String()))
}

// StepBlocked works as StepReplied, for a step that its host could not begin because another one of its type holds it up. Without one
// that failed since the host was booted, the step itself was handed out before: it stays open.
func (t *Tx) StepBlocked(h *model.Host, r Reply) {
	t.batch.Queue(`
		update pending_activities i set state = 'reported', reported_at = $6, exit_code = $4, error = $5
		where i.id = $3 and i.infra_env_id = $1 and i.host_id = $2 and i.kind = 'step' and i.state in ('pending', 'sent')
		  and exists (
		    select from pending_activities e
		    where e.infra_env_id = $1 and e.host_id = $2 and e.kind = 'step' and e.type = i.type and e.id <> i.id
		      and e.boot is not distinct from i.boot and e.state not in ('pending', 'sent') and e.exit_code <> 0)`,
		h.InfraEnvID, h.ID, r.StepID, r.ExitCode, sanitize(r.Error), t.now)
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
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return s.scanActivity(row) })
}

// PendingActivities lists every row of a cluster in order of creation.
func (s *Store) PendingActivities(ctx context.Context, clusterID uuid.UUID) ([]model.PendingActivity, error) {
	rows, err := s.pool.Query(ctx, `
		select `+activityColumns+` from pending_activities where cluster_id = $1 order by created_at, id`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list pending activities: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.PendingActivity, error) { return s.scanActivity(row) })
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

// LastStep returns the newest step of a type that a workflow asked a host for.
func (s *Store) LastStep(ctx context.Context, workflowID, runID, stepType string) (model.PendingActivity, error) {
	i, err := s.scanActivity(s.pool.QueryRow(ctx, `
		select `+activityColumns+` from pending_activities
		where workflow_id = $1 and run_id = $2 and kind = 'step' and type = $3
		order by created_at desc, id
		limit 1`, workflowID, runID, stepType))
	return i, notFound(err, "step", stepType)
}
