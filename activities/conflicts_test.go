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
		first   time.Time
		ends    bool
	}{
		"the first one":           {conflict, time.Time{}, false},
		"for a minute":            {conflict, time.Now().Add(-time.Minute), false}, // a slow machine takes more of the five
		"for six minutes":         {conflict, time.Now().Add(-6 * time.Minute), true},
		"the database is away":    {model.ErrUnavailable, time.Now().Add(-6 * time.Minute), false},
		"a failure of its own":    {errors.New("disk full"), time.Now().Add(-6 * time.Minute), false},
		"without any failure yet": {nil, time.Now().Add(-6 * time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := try(t, tt.failure, tt.first)
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
