package agent

import (
	"context"
	"fmt"
	"sync"

	"slipway/internal/wire"
)

// errFenced refuses a step that writes a disk (exit code 77).
type errFenced struct{ why string }

func (e errFenced) Error() string { return "refused: " + e.why }

// passes returns an error for a step that is for another boot of this host, or of an attempt that is older than one whose
// steps this boot has begun: whoever commanded it does not know the state of the disk.
func (a *Agent) passes(step wire.Step) error {
	fence := step.Fence
	if fence.Boot != "" && fence.Boot != a.state.boot {
		return errFenced{fmt.Sprintf("%s is for boot %s of this host, which is in boot %s", step.StepType, fence.Boot, a.state.boot)}
	}
	for _, begun := range a.journal.Fences() {
		switch {
		case fence.ClusterID == begun.ClusterID && older(fence.ClusterAttempt, begun.ClusterAttempt):
			return errFenced{fmt.Sprintf("%s is of installation %d of cluster %s, and this host has begun installation %d",
				step.StepType, fence.ClusterAttempt, fence.ClusterID, begun.ClusterAttempt)}
		case older(fence.HostAttempt, begun.HostAttempt):
			return errFenced{fmt.Sprintf("%s is of attempt %d of this host, which has begun attempt %d",
				step.StepType, fence.HostAttempt, begun.HostAttempt)}
		}
	}
	return nil
}

// older compares two attempts; zero is none.
func older(attempt, begun int) bool { return attempt != 0 && attempt < begun }

// refuse answers a step without running it, and without a trace of its fence.
func (a *Agent) refuse(ctx context.Context, steps *sync.WaitGroup, step wire.Step, refusal error) {
	step.Fence = wire.StepFence{}
	fresh, err := a.journal.Start(step, a.specs[step.StepType].ChangesHost)
	if err != nil {
		a.log.Error("step not taken", "step", step.StepID, "error", err)
		return // the service offers it again
	}
	if !fresh {
		return
	}
	a.log.Warn("step refused", "step", step.StepID, "error", refusal)
	reply := wire.StepReply{StepID: step.StepID, StepType: step.StepType, ExitCode: wire.ExitFenced, Error: refusal.Error()}
	if err := a.journal.Finish(reply, false); err != nil {
		a.log.Error("reply not kept", "step", step.StepID, "error", err)
	}
	steps.Go(func() { a.deliver(ctx, step, reply, false) })
}
