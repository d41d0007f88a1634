package orchestrator_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/encoding/protojson"

	"slipway/internal/platform/encryption"
	"slipway/internal/service/orchestrator"
)

func sealer(t *testing.T) *encryption.Sealer {
	t.Helper()
	s, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	return s
}

func TestPayloadsAndFailuresAreSealed(t *testing.T) {
	t.Parallel()
	data, failures := orchestrator.Converters(sealer(t))
	payload, err := data.ToPayload("a secret word")
	require.NoError(t, err)
	require.NotContains(t, string(payload.GetData()), "secret word")
	var back string
	require.NoError(t, data.FromPayload(payload, &back))
	require.Equal(t, "a secret word", back)

	failure := failures.ErrorToFailure(temporal.NewApplicationError("pull secret abc123 was refused", "Refused"))
	stored, err := protojson.Marshal(failure)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "abc123")
	var app *temporal.ApplicationError
	require.True(t, errors.As(failures.FailureToError(failure), &app))
	require.Equal(t, "pull secret abc123 was refused", app.Message())
}

func TestPayloadsOfOthersPass(t *testing.T) {
	t.Parallel()
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"x"`)}
	out, err := orchestrator.Codec{Sealer: sealer(t)}.Decode([]*commonpb.Payload{plain})
	require.NoError(t, err)
	require.Equal(t, `"x"`, string(out[0].GetData()))
}

func TestPayloadOfAnotherKeyIsAnError(t *testing.T) {
	t.Parallel()
	other, err := encryption.New(append([]byte{1}, make([]byte, encryption.KeySize-1)...))
	require.NoError(t, err)
	sealed, err := orchestrator.Codec{Sealer: other}.Encode([]*commonpb.Payload{{Data: []byte("x")}})
	require.NoError(t, err)
	_, err = orchestrator.Codec{Sealer: sealer(t)}.Decode(sealed)
	require.Error(t, err)
}
