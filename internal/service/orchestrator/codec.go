package orchestrator

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Sealer encrypts payloads with a key that is not in Temporal's database.
type Sealer interface {
	Seal(plain, aad []byte) []byte
	Open(sealed, aad []byte) ([]byte, error)
}

const (
	sealedEncoding = "binary/slipway-sealed"
	payloadPlace   = "temporal payload" // what seals are bound to
)

// Codec seals every payload and, through the failure converter, every failure
// message. Secrets never enter workflows; this is the second line.
type Codec struct{ Sealer Sealer }

// Encode implements converter.PayloadCodec.
func (c Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := p.Marshal()
		if err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(sealedEncoding)},
			Data:     c.Sealer.Seal(plain, []byte(payloadPlace)),
		}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec; payloads that are not sealed pass.
func (c Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if !isSealed(p) {
			out[i] = p
			continue
		}
		plain, err := c.Sealer.Open(p.GetData(), []byte(payloadPlace))
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

// Converters are the data and failure converters every client and worker uses.
func Converters(s Sealer) (converter.DataConverter, converter.FailureConverter) {
	data := sealedInputs{converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), Codec{Sealer: s})}
	return data, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: true,
	})
}
