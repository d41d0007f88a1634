package workflows_test

import (
	"context"

	"github.com/google/uuid"

	"slipway/activities"
	"slipway/internal/model"
)

// The activities of hosts without a cluster's workflow, and of clocks.

func (w *recorder) BeginAddition(_ context.Context, r activities.AddRequest) (activities.AddPlan, error) {
	w.note("%s is added", w.name(r.HostID))
	return activities.AddPlan{Host: w.plan.Hosts[0], Timeouts: w.plan.Timeouts}, w.fail("begin")
}

func (w *recorder) GenerateHostIgnition(_ context.Context, r activities.HostRef) error {
	w.note("%s ignition", w.name(r.HostID))
	return w.fail("ignition")
}

func (w *recorder) JudgeChecks(_ context.Context, r activities.HostRef) error {
	w.note("%s is judged", w.name(r.HostID))
	return w.fail("judge")
}

func (w *recorder) CancelHost(_ context.Context, r activities.AddRequest) error {
	w.note("%s cancelled", w.name(r.HostID))
	return nil
}

func (w *recorder) BeginHostReset(_ context.Context, r activities.AddRequest) (bool, error) {
	w.note("%s begins its reset", w.name(r.HostID))
	return true, nil
}

func (w *recorder) FinishHostReset(_ context.Context, r activities.AddRequest) error {
	w.note("%s is reset", w.name(r.HostID))
	return nil
}

func (w *recorder) BeginReclaim(_ context.Context, r activities.ReclaimRequest) (activities.ReclaimPlan, error) {
	return activities.ReclaimPlan{Timeouts: w.plan.Timeouts}, w.fail("begin")
}

func (w *recorder) RebootForReclaim(_ context.Context, r activities.HostRef) error {
	w.note("%s reboots", w.name(r.HostID))
	return nil
}

func (w *recorder) FailReclaim(_ context.Context, f activities.ReclaimFailure) error {
	w.note("%s is left to its user: %s", w.name(f.HostID), f.Reason)
	return nil
}

func (w *recorder) AwaitPool(ctx context.Context, r activities.HostRef) error {
	if err := w.pending(ctx, w.name(r.HostID)+" pool"); err != nil {
		return err
	}
	w.note("%s is in the pool", w.name(r.HostID))
	return w.fail(w.name(r.HostID) + " pool")
}

// JudgeStage reports when the plan is soft; else it stops the host.
func (w *recorder) JudgeStage(_ context.Context, r activities.StageClock) (activities.StageVerdict, error) {
	w.note("%s takes more than %s", w.name(r.HostID), r.Limit)
	if err := w.fail("again"); err != nil {
		return activities.StageVerdict{Again: true}, nil //nolint:nilerr // says how the recorder is
	}
	if r.Soft {
		return activities.StageVerdict{}, nil
	}
	return activities.StageVerdict{Failure: "the stage took too long"}, nil
}

func (w *recorder) AwaitUserNeeded(ctx context.Context, _ activities.InstallRequest) error {
	if err := w.pending(ctx, "user"); err != nil {
		return err
	}
	w.note("the user is needed")
	return nil
}

func (w *recorder) FinalizingStage(context.Context, uuid.UUID) (activities.FinalizingStage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stages) == 0 {
		return activities.FinalizingStage{Stage: model.FinalizingDone}, nil
	}
	return w.stages[0], nil
}

func (w *recorder) AwaitFinalizingStage(ctx context.Context, r activities.FinalizingRequest) (activities.FinalizingLeft, error) {
	if err := w.pending(ctx, "left "+string(r.Stage)); err != nil {
		return activities.FinalizingLeft{}, err
	}
	w.mu.Lock()
	w.stages = w.stages[1:]
	w.mu.Unlock()
	next, err := w.FinalizingStage(ctx, r.ClusterID)
	return activities.FinalizingLeft{Next: &next}, err
}

func (w *recorder) JudgeFinalizing(_ context.Context, r activities.FinalizingClock) (activities.StageVerdict, error) {
	w.note("%s took %s", r.Stage, r.Limit)
	if r.Soft || r.Stage != model.FinalizingAddingRouterCA {
		return activities.StageVerdict{}, nil
	}
	return activities.StageVerdict{Failure: "the finalizing stage took too long"}, nil
}
