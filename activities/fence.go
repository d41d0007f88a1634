package activities

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// superseded ends a workflow whose attempt is over: it was reset, or another one was begun, in Temporal's UI or by a command. It must
// change nothing any more.
func superseded(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), FailureSuperseded, nil)
}

// sameInstallation refuses a workflow's change of a host for an attempt that is not the present one; c is nil for a host that has left
// its cluster.
func (r HostRef) sameInstallation(c *model.Cluster, h *model.Host) error {
	if r.HostAttempt != 0 && h.WorkflowAttempt != r.HostAttempt {
		return superseded("attempt %d of host %s is over: it is %s and in attempt %d", r.HostAttempt, h.Hostname(), h.Status, h.WorkflowAttempt)
	}
	if r.ClusterAttempt == 0 || c == nil {
		return nil
	}
	if c.InstallAttempt != r.ClusterAttempt {
		return superseded("installation %d of cluster %s is over: it is %s and in installation %d",
			r.ClusterAttempt, c.Name, c.Status, c.InstallAttempt)
	}
	return nil
}

// sameAttempt refuses a workflow's change of a cluster for an attempt that is not the present one.
func (r InstallRequest) sameAttempt(c *model.Cluster) error {
	if r.Attempt != 0 && c.InstallAttempt != r.Attempt {
		return superseded("installation %d of cluster %s is over: it is %s and in installation %d", r.Attempt, c.Name, c.Status, c.InstallAttempt)
	}
	return nil
}

// present also refuses it when the attempt has ended.
func (r InstallRequest) present(c *model.Cluster) error {
	if err := r.sameAttempt(c); err != nil {
		return err
	}
	if !c.InstallationRuns() {
		return superseded("installation %d of cluster %s is over: it is %s", r.Attempt, c.Name, c.Status)
	}
	return nil
}

// fence returns the conditions for a host to be given a step.
func (r HostRef) fence(step wire.StepType, h *model.Host) model.Fence {
	row, _ := steps.Of(step)
	fence := model.Fence{
		Takes: lifecycle.TakesStep(row, h.DayTwo()), ClusterAttempt: r.ClusterAttempt, HostAttempt: r.HostAttempt, HostTry: h.Attempt,
	}
	if row.OfBoot() {
		fence.Boot = h.Boot
	}
	return fence
}

// fenced turns the refusal of a fence into an error that ends the workflow.
func fenced(err error) error {
	if errors.Is(err, model.ErrConflict) {
		return superseded("%s", err)
	}
	return err
}

// passed reports whether a host is past a stage in its present attempt: its steps were run, and are not run again
// because a workflow was reset to an earlier point in Temporal's UI.
func passed(c *model.Cluster, h *model.Host, stage model.Stage) bool {
	if stage == "" || c == nil {
		return false
	}
	stages := steps.StagesFor(h.EffectiveRole(), h.Bootstrap, c.SingleNode())
	at := slices.Index(stages, stage)
	return at >= 0 && at < slices.Index(stages, h.Stage)
}
