package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/platform/encryption"
	"slipway/workflows"
)

// inputs are the inputs of all workflows. A workflow is started by the service alone, which seals its input; signals,
// updates and queries come from users as well, whose tools seal nothing.
var inputs = map[reflect.Type]bool{
	reflect.TypeFor[workflows.ClusterRequest]():      true,
	reflect.TypeFor[activities.AddRequest]():         true,
	reflect.TypeFor[activities.ReclaimRequest]():     true,
	reflect.TypeFor[workflows.HostInstallRequest]():  true,
	reflect.TypeFor[workflows.HostResetRequest]():    true,
	reflect.TypeFor[workflows.HousekeepingRequest](): true,
	reflect.TypeFor[workflows.ResetRequest]():        true,
	reflect.TypeFor[workflows.ControlRequest]():      true,
}

// errInput fails a workflow that another program has started.
var errInput = errors.New("require an input that this service has sealed: installations are started by its API")

// sealedInputs refuses inputs of workflows that are missing, not sealed, or sealed for another workflow.
type sealedInputs struct {
	converter.DataConverter
	sealer   Sealer
	workflow string // the id of the workflow whose payloads it converts; empty: unknown
	// blocks is set inside of a workflow: there a payload that no key opens is no failure of the workflow.
	blocks bool
}

func newSealedInputs(s Sealer, workflow string) sealedInputs {
	codec := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), Codec{Sealer: s, Workflow: workflow})
	return sealedInputs{DataConverter: codec, sealer: s, workflow: workflow}
}

// WithSerializationContext implements converter.DataConverterWithSerializationContext.
func (s sealedInputs) WithSerializationContext(about converter.SerializationContext) converter.DataConverter {
	of, ok := about.(converter.WorkflowSerializationContext)
	if !ok {
		return s
	}
	next := newSealedInputs(s.sealer, of.WorkflowID)
	next.blocks = s.blocks
	return next
}

// WithWorkflowContext implements workflow.ContextAware.
func (s sealedInputs) WithWorkflowContext(workflow.Context) converter.DataConverter {
	s.blocks = true
	return s
}

// WithContext implements workflow.ContextAware: clients and activities get errors.
func (s sealedInputs) WithContext(context.Context) converter.DataConverter { return s }

// FromPayload implements converter.DataConverter.
func (s sealedInputs) FromPayload(payload *commonpb.Payload, value any) error {
	if err := s.check(payload, value); err != nil {
		return err
	}
	return s.block(s.DataConverter.FromPayload(payload, value))
}

// FromPayloads implements converter.DataConverter.
func (s sealedInputs) FromPayloads(payloads *commonpb.Payloads, values ...any) error {
	for i, value := range values {
		var payload *commonpb.Payload
		if i < len(payloads.GetPayloads()) {
			payload = payloads.GetPayloads()[i]
		}
		if err := s.check(payload, value); err != nil {
			return err
		}
	}
	return s.block(s.DataConverter.FromPayloads(payloads, values...))
}

// check refuses the payload of an input that this service has not sealed for this workflow. Payloads of earlier versions name
// none, and schedules give the workflows that they start ids of their own.
func (s sealedInputs) check(payload *commonpb.Payload, value any) error {
	if !isInput(value) {
		return nil
	}
	if !isSealed(payload) {
		return errInput
	}
	id, bound := payload.GetMetadata()[ofWorkflow]
	if _, scheduled := value.(*workflows.HousekeepingRequest); scheduled || !bound || s.workflow == "" || s.workflow == string(id) {
		return nil
	}
	return fmt.Errorf("%w; this input is for %s", errInput, id)
}

// block panics for an input that no key opens, as the SDK does for code that a worker does not know: the task of the workflow fails,
// and is tried until a worker with the right keys takes it. An error would end the workflow, or drop a signal.
func (s sealedInputs) block(err error) error {
	if s.blocks && (errors.Is(err, encryption.ErrUnknownKey) || errors.Is(err, encryption.ErrAuthentication)) {
		panic(fmt.Sprintf("%v: require the keys that this workflow was encrypted with, see docs/engine.md", err))
	}
	return err
}

// isInput reports whether value points to the input of a workflow.
func isInput(value any) bool {
	t := reflect.TypeOf(value)
	return t != nil && t.Kind() == reflect.Pointer && inputs[t.Elem()]
}

func isSealed(payload *commonpb.Payload) bool {
	return string(payload.GetMetadata()[converter.MetadataEncoding]) == sealedEncoding
}
