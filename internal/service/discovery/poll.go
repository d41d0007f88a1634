package discovery

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/wire"
)

// PollInput is an agent's request for steps.
type PollInput struct {
	InfraEnvID, HostID uuid.UUID
	Timestamp          int64  // the host's clock in Unix seconds; 0 when it told none
	AgentVersion       string // empty when it told none
	Boot               string // how the agent names the boot of the host; empty when it does not
	// Wait is how long the poll may be held until a step is due; zero answers at once.
	Wait time.Duration
}

const (
	// MaxWait is how long a poll is held at most, whatever the agent prefers.
	MaxWait = time.Minute
	// againToFine and againToForeign are after how long a step without an answer is
	// handed out again: our agent knows its step ids and ignores it, a foreign one may
	// start it twice.
	againToFine    = 10 * time.Second
	againToForeign = 50 * time.Second
	// duePrecision is how exactly a held poll meets the time a step becomes due.
	duePrecision = 200 * time.Millisecond
)

// NextSteps gives a host its steps: the steps of a workflow, and the steps of discovery that are due. A poll without either costs one
// read, and a write at most every store.CheckInEvery. It returns an ErrNotFound for an unknown host.
func (s *Service) NextSteps(ctx context.Context, in PollInput) (wire.Steps, error) {
	steps, err := s.nextSteps(ctx, in)
	if err == nil {
		s.options.Meter.Polled(len(steps.Instructions))
	}
	return steps, err
}

func (s *Service) nextSteps(ctx context.Context, in PollInput) (wire.Steps, error) {
	p := &poll{Service: s, in: in, deadline: s.now().Add(s.hold(in.Wait))}
	wake, stop := p.subscribe()
	defer stop()
	for {
		steps, next, err := p.once(ctx)
		left := p.deadline.Sub(s.now())
		if err != nil || left <= 0 || len(steps.Instructions) > 0 || steps.PostStepAction == wire.Exit {
			return steps, err
		}
		woken, err := await(ctx, wake, min(left, next))
		if err != nil {
			return wire.Steps{}, err
		}
		if !woken && next >= left {
			return steps, nil // the agent's next poll, which follows at once, is the next look
		}
	}
}

// hold limits how long a poll is held, so that a host that is waiting never looks silent.
func (s *Service) hold(wait time.Duration) time.Duration {
	if s.signals == nil || wait <= 0 {
		return 0
	}
	return min(wait, MaxWait, s.timeouts.Disconnect/3)
}

// await returns when woken, or else when the limit has passed.
func await(ctx context.Context, wake <-chan struct{}, limit time.Duration) (woken bool, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-wake:
		return true, nil
	case <-timer.C:
		return false, nil
	}
}

// poll is one request for steps.
type poll struct {
	*Service
	in        PollInput
	deadline  time.Time
	checkedIn bool
}

// subscribe begins to listen before the first look, so that no step is missed between
// looking and waiting.
func (p *poll) subscribe() (<-chan struct{}, func()) {
	if p.hold(p.in.Wait) == 0 {
		return nil, func() {}
	}
	return p.signals.Host(p.in.HostID)
}

// once looks for steps. next is after how long it is worth looking again without a signal.
func (p *poll) once(ctx context.Context) (steps wire.Steps, next time.Duration, err error) {
	v, err := p.store.Poll(ctx, p.in.InfraEnvID, p.in.HostID)
	if err != nil {
		return steps, 0, err
	}
	if p.in.Boot != "" && v.Boot != "" && p.in.Boot != v.Boot {
		return wire.Steps{PostStepAction: wire.Exit}, 0, nil // its facts and commands belong to another boot
	}
	if !p.checkedIn {
		if err := p.checkIn(ctx, v); err != nil {
			return steps, 0, err
		}
		p.checkedIn = true
	}
	view, err := p.view(ctx, v)
	if err != nil {
		return steps, 0, err
	}
	asked := false
	if due := p.due.Steps(v.ClusterID, view); len(due) > 0 {
		asked = true
		if steps.Instructions, err = p.ask(ctx, v, due); err != nil {
			return steps, 0, err
		}
	}
	if v.Waiting {
		sent, err := p.deliver(ctx, v)
		if err != nil {
			return steps, 0, err
		}
		steps.Instructions = append(steps.Instructions, sent...)
	}
	soon := len(steps.Instructions) > 0 || v.Waiting || duesteps.Busy(view)
	steps.NextInstructionSeconds, steps.PostStepAction = duesteps.Interval(v.Kind, v.Status, soon)
	if p.hold(p.in.Wait) > 0 {
		steps.NextInstructionSeconds = 0 // the agent comes back at once and is held again
	}
	if asked {
		return steps, duePrecision, nil
	}
	return steps, p.next(v, view), nil
}

// view returns the part of the host's state that decides which steps are due. An idle poll reads its columns only, save in the statuses
// in which steps depend on more.
func (p *poll) view(ctx context.Context, v *store.PollView) (duesteps.View, error) {
	h := v.Host()
	if lifecycle.WithHistory.Has(v.Status) {
		var err error
		if h, err = p.store.Host(ctx, p.in.InfraEnvID, p.in.HostID); err != nil {
			return duesteps.View{}, err
		}
	}
	return p.due.View(h, clusterOf(v), p.in.AgentVersion, p.now()), nil
}

func clusterOf(v *store.PollView) evaluation.ClusterMarks {
	return evaluation.ClusterMarks{ID: v.ClusterID, Networks: v.NetworkGeneration, Hosts: v.HostsGeneration}
}

// next returns after how long a held poll looks again: when a step becomes due, or a step that was handed out may have been lost.
func (p *poll) next(v *store.PollView, view duesteps.View) time.Duration {
	limit := p.deadline.Sub(view.Now)
	if v.Waiting {
		limit = min(limit, againToFine)
	}
	dueAfter := func(d time.Duration) bool {
		later := view
		later.Now = view.Now.Add(d)
		return len(p.due.Steps(v.ClusterID, later)) > 0
	}
	if limit <= 0 || !dueAfter(limit) {
		return limit
	}
	early, late := time.Duration(0), limit
	for late-early > duePrecision {
		if middle := (early + late) / 2; dueAfter(middle) {
			late = middle
		} else {
			early = middle
		}
	}
	return late
}

// deliver hands out the steps of the host's workflow.
func (p *poll) deliver(ctx context.Context, v *store.PollView) ([]wire.Step, error) {
	again := time.Time{}
	switch {
	case v.AgentSteps == model.FineSteps:
		again = p.now().Add(-againToFine)
	case v.Stage == "": // once it reports stages the step has arrived
		again = p.now().Add(-againToForeign)
	}
	rows, err := p.store.DeliverSteps(ctx, p.in.InfraEnvID, p.in.HostID, again)
	if err != nil {
		return nil, err
	}
	out := make([]wire.Step, len(rows))
	for i, row := range rows {
		out[i] = wire.Step{StepType: wire.StepType(row.Type), StepID: row.ID, Args: row.Args}
		if v.AgentSteps == model.FineSteps {
			out[i].Fence = fence(row)
		}
	}
	return out, nil
}

// fence returns the values that the agent compares before it runs a step that writes a disk.
func fence(row model.PendingActivity) wire.StepFence {
	if step, _ := steps.Of(wire.StepType(row.Type)); !step.WritesDisk {
		return wire.StepFence{}
	}
	return wire.StepFence{
		Boot: row.Fence.Boot, ClusterID: row.ClusterID, ClusterAttempt: row.Fence.ClusterAttempt, HostAttempt: row.Fence.HostAttempt,
	}
}
