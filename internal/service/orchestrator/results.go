package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/model"
)

const (
	// forwarders is how many results travel to Temporal at once.
	forwarders = 4
	// beats is how many heartbeats do.
	beats = 16
	// callTime limits one call to Temporal, with the tries the SDK makes.
	callTime = 10 * time.Second
	// lease is how long a result is left to the process that forwards it: longer than its call.
	lease = callTime + 5*time.Second
)

// forwardAll completes all reported activities.
func (o *Orchestrator) forwardAll(ctx context.Context) error {
	for ctx.Err() == nil {
		found, err := o.Store.ForwardReported(ctx, lease, func(i model.PendingActivity) error { return o.complete(ctx, i) })
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// complete ends a pending activity. An activity that has ended already, or a missing workflow, counts as done: no caller waits for the
// result any more.
func (o *Orchestrator) complete(ctx context.Context, i model.PendingActivity) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	result, failure, err := activities.Result(ctx, o.Store, i)
	if err != nil {
		return fmt.Errorf("read the result of %s: %w", i.ID, err)
	}
	// By its id: the token of an activity names a number in the history of its workflow, which is another activity in a Temporal whose
	// tables were restored from an older backup.
	err = o.Temporal.CompleteActivityByID(ctx, o.Namespace, i.WorkflowID, i.RunID, i.ActivityID, result, failure)
	switch {
	case err == nil:
	case isEnded(err):
		o.Log.Info("result came after its activity ended", "activity", i.ID, "attempt", i.Attempt, "error", err)
	default:
		return fmt.Errorf("complete activity of %s: %w", i.ID, err)
	}
	return nil
}

// beat records heartbeats for open pending activities: stages, milestones and statuses by this service, steps by the host
// that polls. Statuses that were reached unnoticed are reported first. It returns all errors; one keeps no other heartbeat
// from its way.
func (o *Orchestrator) beat(ctx context.Context) error {
	if err := o.Store.CompleteStatuses(ctx); err != nil {
		return err
	}
	due, err := o.Store.DueHeartbeats(ctx, o.Alive)
	if err != nil {
		return err
	}
	failed := make([]error, len(due))
	free := make(chan struct{}, beats)
	var group sync.WaitGroup
	for n, i := range due {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			failed[n] = o.beatOne(ctx, i)
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

func (o *Orchestrator) beatOne(ctx context.Context, i model.PendingActivity) error {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := o.Temporal.RecordActivityHeartbeatByID(call, o.Namespace, i.WorkflowID, i.RunID, i.ActivityID)
	var cancelled *temporal.CanceledError
	if err == nil || errors.As(err, &cancelled) || isEnded(err) {
		// The row stays: the workflow's own clean-up voids it, the next try needs it, or a workflow that is begun again in
		// another Temporal takes it over.
		return nil
	}
	return fmt.Errorf("heartbeat of %s: %w", i.ID, err)
}

// isEnded reports whether no workflow of this Temporal waits for an activity: it or its workflow has ended, or never was. A namespace that
// is missing will be made.
func isEnded(err error) bool {
	var notFound *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &notFound) || errors.As(err, &invalid)
}
