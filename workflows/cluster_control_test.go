package workflows_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/workflows"
)

func TestCommandsReachAClusterAsSignalsWhateverRuns(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["command reset"] = []error{stepFailed("cluster prod cannot be reset")}
	env := environment(t, w)
	for i, signal := range []struct {
		name  string
		input any
	}{
		{"reset", nil}, // refused: the next commands are taken all the same
		{"retry", "worker-1"},
		{"retry-step", map[string]string{"Host": "worker-0"}},
		{"pause", []int{1, 2}},
		{"no-such-command", nil},
		{"rest", "everything"},
		{"evict", "worker-1"}, // the cluster was deleted meanwhile
	} {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(signal.name, signal.input) }, time.Duration(i+1)*time.Minute)
	}
	env.ExecuteWorkflow(workflows.ClusterControl, workflows.ControlRequest{ClusterID: uuid.New(), Name: "prod"})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{
		`command reset "" `,
		`command retry "worker-1" `,
		`command retry-step "worker-0" `,
		`command pause "" [1,2]`,
		`command no-such-command "" `,
		`command rest "everything" `,
		`command evict "worker-1" `,
	}, w.lines())
}

// A run that is over has no command that a Reset could give again.
func TestEachCommandEndsARunOfClusterControl(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"carried out": nil,
		"refused": temporal.NewNonRetryableApplicationError(
			"no phase has timed out", activities.FailureRefused, nil, activities.Controlled{EndsRun: true},
		),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			if err != nil {
				w.fails["command extend"] = []error{err}
			}
			env := environment(t, w)
			env.RegisterDelayedCallback(func() { env.SignalWorkflow("extend", nil) }, time.Minute)
			env.RegisterDelayedCallback(func() { require.Fail(t, "the run did not end") }, 2*time.Minute)
			request := workflows.ControlRequest{ClusterID: uuid.New(), Name: "prod"}
			env.ExecuteWorkflow(workflows.ClusterControl, request)
			var again *workflow.ContinueAsNewError
			require.ErrorAs(t, env.GetWorkflowError(), &again)
			var next workflows.ControlRequest
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
			require.Equal(t, request, next)
			require.Equal(t, []string{`command extend "" `}, w.lines())
		})
	}
}

func TestInputsOfCommandsAreNeverDropped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]activities.CommandInput{
		`"worker-1"`:            {Host: "worker-1"},
		`null`:                  {},
		`{"Host":"worker-1"}`:   {Host: "worker-1"},
		`{"hots":"worker-1"}`:   {Wrong: `{"hots":"worker-1"}`},
		`["worker-1"]`:          {Wrong: `["worker-1"]`},
		`{"Host":["worker-1"]}`: {Wrong: `{"Host":["worker-1"]}`},
	} {
		var got activities.CommandInput
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		require.Equal(t, want, got, text)
	}
}
