package orchestrator_test

import (
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"slipway/internal/service/orchestrator"
	"slipway/worker"
	"slipway/workflows"
)

// registry keeps what a worker registers.
type registry struct{ functions []reflect.Type }

func (r *registry) RegisterWorkflow(w any) { r.functions = append(r.functions, reflect.TypeOf(w)) }

func (r *registry) RegisterWorkflowWithOptions(w any, _ workflow.RegisterOptions) {
	r.RegisterWorkflow(w)
}

func (r *registry) RegisterDynamicWorkflow(w any, _ workflow.DynamicRegisterOptions) {
	r.RegisterWorkflow(w)
}

// Started by `temporal workflow start --input '{}'`, and without --input.
func TestWorkflowsTakeSealedInputsOnly(t *testing.T) {
	t.Parallel()
	data, _ := orchestrator.Converters(sealer(t))
	plain, err := converter.GetDefaultDataConverter().ToPayloads(map[string]any{})
	require.NoError(t, err)
	var all registry
	worker.RegisterWorkflows(&all)
	require.NotEmpty(t, all.functions)
	for _, f := range all.functions {
		for i := 1; i < f.NumIn(); i++ { // after the context
			input := reflect.New(f.In(i)).Interface()
			require.ErrorContains(t, data.FromPayloads(plain, input), "require an input that this service has sealed", f)
			require.ErrorContains(t, data.FromPayload(plain.GetPayloads()[0], input), "require an input that this service has sealed", f)
			require.Error(t, data.FromPayloads(nil, input), f)
			sealed, err := data.ToPayloads(input)
			require.NoError(t, err)
			require.NoError(t, data.FromPayloads(sealed, input), f)
			sealed.GetPayloads()[0].Data = plain.GetPayloads()[0].GetData()
			require.Error(t, data.FromPayloads(sealed, input), "%s: says that it is sealed", f)
		}
	}
}

func TestSignalsAndUpdatesOfUsersPass(t *testing.T) {
	t.Parallel()
	data, _ := orchestrator.Converters(sealer(t))
	plain, err := converter.GetDefaultDataConverter().ToPayloads(workflows.HostNews{HostID: uuid.Max})
	require.NoError(t, err)
	var news workflows.HostNews
	require.NoError(t, data.FromPayloads(plain, &news))
	require.Equal(t, uuid.Max, news.HostID)
	require.NoError(t, data.FromPayloads(nil))
}

// plainSender is another program's way to start a workflow of ours.
type plainSender struct{ converter.DataConverter }

func (p plainSender) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	return converter.GetDefaultDataConverter().ToPayloads(values...)
}

func TestWorkflowsOfOthersFailBeforeTheyBegin(t *testing.T) {
	t.Parallel()
	data, _ := orchestrator.Converters(sealer(t))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment() // refuses activities, which are not registered
	env.SetDataConverter(plainSender{data})
	env.RegisterWorkflow(workflows.PurgeDeleted)
	env.ExecuteWorkflow(workflows.PurgeDeleted, workflows.HousekeepingRequest{})
	require.True(t, env.IsWorkflowCompleted())
	require.ErrorContains(t, env.GetWorkflowError(), "require an input that this service has sealed")
}
