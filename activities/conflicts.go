package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/model"
)

// conflictsPass is how long an activity is tried again because the state of its cluster or host does not allow it. Changes of that
// state take seconds.
const conflictsPass = 5 * time.Minute

// Conflicts ends activities whose conflict does not pass, with FailureConflict and the conflict's own sentence.
type Conflicts struct {
	interceptor.WorkerInterceptorBase
	Pass time.Duration // 0: five minutes
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (c *Conflicts) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	limited := &limitedConflicts{pass: cmp.Or(c.Pass, conflictsPass)}
	limited.Next = next
	return limited
}

type limitedConflicts struct {
	interceptor.ActivityInboundInterceptorBase
	pass time.Duration
}

// ExecuteActivity keeps when the first conflict came in the details of a heartbeat, which the next try is given: the time
// before it, in which the database may have been away, does not count.
func (l *limitedConflicts) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := l.Next.ExecuteActivity(ctx, in)
	var failure *temporal.ApplicationError
	if !errors.Is(err, model.ErrConflict) || errors.As(err, &failure) {
		return result, err
	}
	now := activity.GetInfo(ctx).StartedTime
	var first time.Time
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &first) != nil {
		activity.RecordHeartbeat(ctx, now)
		return result, err
	}
	if now.Sub(first) < l.pass {
		return result, err
	}
	return result, temporal.NewNonRetryableApplicationError(err.Error(), FailureConflict, nil)
}
