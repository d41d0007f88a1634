package orchestrator_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"slipway/internal/platform/encryption"
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

func sealerOf(t *testing.T, key byte) *encryption.Sealer {
	t.Helper()
	s, err := encryption.New(append([]byte{key}, make([]byte, encryption.KeySize-1)...))
	require.NoError(t, err)
	return s
}

// A worker with other keys must not end a workflow it cannot read: its task fails, as with PanicPolicy BlockWorkflow for any panic.
func TestInputThatNoKeyOpensBlocksTheWorkflow(t *testing.T) {
	t.Parallel()
	wrong, _ := orchestrator.Converters(sealerOf(t, 1))
	right, _ := orchestrator.Converters(sealerOf(t, 2))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetDataConverter(encodedBy{wrong, right})
	env.RegisterWorkflow(workflows.PurgeDeleted)
	env.ExecuteWorkflow(workflows.PurgeDeleted, workflows.HousekeepingRequest{})
	var blocked *temporal.PanicError
	require.ErrorAs(t, env.GetWorkflowError(), &blocked)
	require.ErrorContains(t, blocked, "require the keys that this workflow was encrypted with")
}

// encodedBy decodes with one converter what another one has encoded.
type encodedBy struct {
	converter.DataConverter
	encodes converter.DataConverter
}

func (e encodedBy) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	return e.encodes.ToPayloads(values...)
}

func (e encodedBy) WithWorkflowContext(ctx workflow.Context) converter.DataConverter {
	return e.DataConverter.(workflow.ContextAware).WithWorkflowContext(ctx)
}

func (e encodedBy) WithContext(context.Context) converter.DataConverter { return e }

func TestSealedInputIsForOneWorkflow(t *testing.T) {
	t.Parallel()
	data, _ := orchestrator.Converters(sealer(t))
	of := func(id string) converter.DataConverter {
		return converter.WithDataConverterSerializationContext(data, converter.WorkflowSerializationContext{WorkflowID: id})
	}
	request := workflows.ControlRequest{ClusterID: uuid.New(), Name: "prod"}
	sealed, err := of("control:1").ToPayloads(request)
	require.NoError(t, err)
	var back workflows.ControlRequest
	require.NoError(t, of("control:1").FromPayloads(sealed, &back))
	require.Equal(t, request, back)
	require.NoError(t, data.FromPayloads(sealed, &back), "the codec of the web UI knows no workflow")
	require.ErrorContains(t, of("control:2").FromPayloads(sealed, &back), "this input is for control:1")

	sealed.GetPayloads()[0].Metadata["slipway-workflow"] = []byte("control:2")
	require.ErrorIs(t, of("control:2").FromPayloads(sealed, &back), encryption.ErrAuthentication)
	delete(sealed.GetPayloads()[0].GetMetadata(), "slipway-workflow")
	require.ErrorIs(t, of("control:2").FromPayloads(sealed, &back), encryption.ErrAuthentication)

	plain, err := converter.GetDefaultDataConverter().ToPayload(request)
	require.NoError(t, err)
	text, err := plain.Marshal()
	require.NoError(t, err)
	old := &commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("binary/slipway-sealed")},
		Data:     sealer(t).Seal("payloads", text, []byte("temporal payload")),
	}
	require.NoError(t, of("control:1").FromPayload(old, &back), "as earlier versions have sealed it")
}
