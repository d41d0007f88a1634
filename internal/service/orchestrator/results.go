package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/model"
)

// forwarders is how many results travel to Temporal at once.
const forwarders = 4

// forwardAll completes all reported activities.
func (o *Orchestrator) forwardAll(ctx context.Context) error {
	for ctx.Err() == nil {
		var failure error
		found, err := o.Store.ForwardReported(ctx, func(i model.PendingActivity) error {
			failure = o.complete(ctx, i)
			return failure
		})
		if err != nil {
			return err
		}
		if failure != nil {
			return failure
		}
		if !found {
			return nil
		}
	}
	return nil
}

// complete ends a pending activity. One that has ended already, or a workflow that is
// gone, counts as done: no caller waits for the result any more.
func (o *Orchestrator) complete(ctx context.Context, i model.PendingActivity) error {
	result, failure := activities.Outcome(i)
	err := o.Temporal.CompleteActivity(ctx, i.TaskToken, result, failure)
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		o.Log.Info("result came after its activity ended", "activity", i.ID, "attempt", i.Attempt)
		return nil
	}
	if err != nil {
		return fmt.Errorf("complete activity of %s: %w", i.ID, err)
	}
	return nil
}

// beat records heartbeats for open pending activities: stages and milestones
// by this service, steps by the host that polls.
func (o *Orchestrator) beat(ctx context.Context) error {
	due, err := o.Store.DueHeartbeats(ctx, o.Alive)
	if err != nil {
		return err
	}
	for _, i := range due {
		err := o.Temporal.RecordActivityHeartbeat(ctx, i.TaskToken)
		var notFound *serviceerror.NotFound
		var cancelled *temporal.CanceledError
		switch {
		case err == nil:
		case errors.As(err, &notFound), errors.As(err, &cancelled):
			// The activity was cancelled or its workflow ended; the workflow's own clean-up voids the row.
		default:
			return fmt.Errorf("heartbeat of %s: %w", i.ID, err)
		}
	}
	return nil
}
