package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// original refuses to run a copy: a workflow with an input that was made for another id. "Start Workflow Like This One" of
// Temporal's UI makes such copies, and `temporal workflow start` can. A copy that ran would work on the rows of the original. It
// is refused before the first command, so that histories of originals replay unchanged.
func original(ctx workflow.Context, id string) error {
	have := workflow.GetInfo(ctx).WorkflowExecution.ID
	if have == id {
		return nil
	}
	return refuseCopy(ctx, fmt.Sprintf("workflow %s is a copy of %s: it changes nothing", have, id))
}

// childOf checks like original a workflow that only its parent starts. Without that parent it would report to no workflow.
func childOf(ctx workflow.Context, id, parent string) error {
	if err := original(ctx, id); err != nil {
		return err
	}
	if p := workflow.GetInfo(ctx).ParentWorkflowExecution; p == nil || p.ID != parent {
		return refuseCopy(ctx, fmt.Sprintf("workflow %s was not started by %s: it changes nothing", id, parent))
	}
	return nil
}

func refuseCopy(ctx workflow.Context, why string) error {
	workflow.SetCurrentDetails(ctx, "**refused**: "+why)
	return temporal.NewNonRetryableApplicationError(why, activities.FailureCopied, nil)
}

// wasReset reports whether Temporal began this run by a Reset of another one.
func wasReset(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID // tests have no original run
}
