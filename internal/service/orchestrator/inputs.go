package orchestrator

import (
	"errors"
	"reflect"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"slipway/activities"
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

// sealedInputs refuses inputs of workflows that are missing or not sealed.
type sealedInputs struct{ converter.DataConverter }

// FromPayload implements converter.DataConverter.
func (s sealedInputs) FromPayload(payload *commonpb.Payload, value any) error {
	if isInput(value) && !isSealed(payload) {
		return errInput
	}
	return s.DataConverter.FromPayload(payload, value)
}

// FromPayloads implements converter.DataConverter.
func (s sealedInputs) FromPayloads(payloads *commonpb.Payloads, values ...any) error {
	for i, value := range values {
		if isInput(value) && (i >= len(payloads.GetPayloads()) || !isSealed(payloads.GetPayloads()[i])) {
			return errInput
		}
	}
	return s.DataConverter.FromPayloads(payloads, values...)
}

// isInput reports whether value points to the input of a workflow.
func isInput(value any) bool {
	t := reflect.TypeOf(value)
	return t != nil && t.Kind() == reflect.Pointer && inputs[t.Elem()]
}

func isSealed(payload *commonpb.Payload) bool {
	return string(payload.GetMetadata()[converter.MetadataEncoding]) == sealedEncoding
}
