package orchestrator

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"slipway/workflows"
)

// Sealer encrypts payloads with a key that is not in Temporal's database.
type Sealer interface {
	Seal(kind string, plain, aad []byte) []byte
	Open(kind string, sealed, aad []byte) ([]byte, error)
}

const (
	sealedEncoding = "binary/slipway-sealed"
	// sealedKind is the kind of values that payloads are encrypted as.
	sealedKind = "payloads"
	// ofWorkflow is the metadata with the id of the workflow that a payload is bound to.
	ofWorkflow = "slipway-workflow"
	// payloadPlace binds seals that know no workflow: seals of earlier versions and of users' tools.
	payloadPlace = "temporal payload"
)

// Codec seals every payload and, through the failure converter, every failure message except for refused commands. Secrets never enter
// workflows; this is the second line.
type Codec struct {
	Sealer   Sealer
	Workflow string // the id of the workflow that payloads are for; empty: unknown
}

// Encode implements converter.PayloadCodec.
func (c Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := p.Marshal()
		if err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
		metadata := map[string][]byte{converter.MetadataEncoding: []byte(sealedEncoding)}
		if c.Workflow != "" {
			metadata[ofWorkflow] = []byte(c.Workflow)
		}
		out[i] = &commonpb.Payload{Metadata: metadata, Data: c.Sealer.Seal(sealedKind, plain, placeOf(metadata))}
	}
	return out, nil
}

// placeOf returns the text that binds the seal of a payload.
func placeOf(metadata map[string][]byte) []byte {
	if id, bound := metadata[ofWorkflow]; bound {
		return fmt.Appendf(nil, "%s of %s", payloadPlace, id)
	}
	return []byte(payloadPlace)
}

// Decode implements converter.PayloadCodec; payloads that are not sealed pass.
func (c Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if !isSealed(p) {
			out[i] = p
			continue
		}
		plain, err := c.Sealer.Open(sealedKind, p.GetData(), placeOf(p.GetMetadata()))
		if err != nil {
			return nil, fmt.Errorf("open payload: %w", err)
		}
		out[i] = &commonpb.Payload{}
		if err := out[i].Unmarshal(plain); err != nil {
			return nil, fmt.Errorf("decode payload: %w", err)
		}
	}
	return out, nil
}

// Converters returns the data and failure converters every client and worker uses.
func Converters(s Sealer) (converter.DataConverter, converter.FailureConverter) {
	data := newSealedInputs(s, "")
	return data, openRefusals{temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: true,
	})}
}

// openRefusals leaves the message of a refusal readable without the codec: the dialog of Temporal's web UI that sends an
// Update does not ask it. The sealed copy stays beside the message, as do sealed details, stack traces and causes.
type openRefusals struct{ converter.FailureConverter }

// ErrorToFailure implements converter.FailureConverter.
func (o openRefusals) ErrorToFailure(err error) *failurepb.Failure {
	failure := o.FailureConverter.ErrorToFailure(err)
	refused, ok := err.(*temporal.ApplicationError) //nolint:errorlint // its causes stay sealed
	if ok && (refused.Type() == workflows.RejectionConflict || refused.Type() == workflows.RejectionEarly) {
		failure.Message = refused.Message()
	}
	return failure
}
