package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/worker"

	"slipway/activities"
	"slipway/internal/model"
)

// try runs an activity once that fails, after an earlier try whose conflict came at first; the zero time is none.
func try(t *testing.T, failure error, first time.Time) error {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.SetWorkerOptions(sdk.Options{Interceptors: []interceptor.WorkerInterceptor{&activities.Conflicts{}}})
	if !first.IsZero() {
		env.SetHeartbeatDetails(first)
	}
	finish := func(context.Context) error { return failure }
	env.RegisterActivity(finish)
	_, err := env.ExecuteActivity(finish)
	return err
}

func TestConflictThatDoesNotPassEndsItsActivity(t *testing.T) {
	t.Parallel()
	conflict := model.Conflictf("cluster prod cannot be completed: require all hosts installed or failed, found worker-0 installing")
	for name, tt := range map[string]struct {
		failure error
		before  time.Duration // since the first failure; 0: there was none
		ends    bool
	}{
		"the first one":           {conflict, 0, false},
		"for a minute":            {conflict, time.Minute, false},
		"for six minutes":         {conflict, 6 * time.Minute, true},
		"the database is away":    {model.ErrUnavailable, 6 * time.Minute, false},
		"a failure of its own":    {errors.New("disk full"), 6 * time.Minute, false},
		"without any failure yet": {nil, 6 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first time.Time
			if tt.before > 0 {
				first = time.Now().Add(-tt.before)
			}
			err := try(t, tt.failure, first)
			require.Equal(t, tt.failure == nil, err == nil)
			var failure *temporal.ApplicationError
			ended := errors.As(err, &failure) && failure.NonRetryable()
			require.Equal(t, tt.ends, ended, "%v", err)
			if tt.ends {
				require.Equal(t, activities.FailureConflict, failure.Type())
				require.ErrorContains(t, err, "found worker-0 installing")
			}
		})
	}
}
