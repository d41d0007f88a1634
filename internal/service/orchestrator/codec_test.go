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

// A refusal is shown by programs that have no codec. Its details, and errors that contain one, stay sealed.
func TestMessagesOfRefusalsAreOpen(t *testing.T) {
	t.Parallel()
	_, failures := orchestrator.Converters(sealer(t))
	refused := temporal.NewApplicationErrorWithOptions("the installation is paused already", "Conflict", temporal.ApplicationErrorOptions{
		Cause: errors.New("caused by abc123"), Details: []any{"details abc123"},
	})
	failure := failures.ErrorToFailure(refused)
	stored, err := protojson.Marshal(failure)
	require.NoError(t, err)
	require.Equal(t, "the installation is paused already", failure.GetMessage())
	require.NotContains(t, string(stored), "abc123")
	var back *temporal.ApplicationError
	require.ErrorAs(t, failures.FailureToError(failure), &back)
	require.Equal(t, "the installation is paused already", back.Message())
	require.ErrorContains(t, errors.Unwrap(back), "caused by abc123")
	early := failures.ErrorToFailure(temporal.NewApplicationError("the host does not wait for a decision", "Early"))
	require.Equal(t, "the host does not wait for a decision", early.GetMessage())

	wrapping := temporal.NewApplicationErrorWithCause("pull secret abc123", "Refused", refused)
	stored, err = protojson.Marshal(failures.ErrorToFailure(wrapping))
	require.NoError(t, err)
	require.NotContains(t, string(stored), "abc123")
	require.NotContains(t, string(stored), "paused already")
}

// Histories hold refusals that were sealed whole.
func TestSealedRefusalsAreRead(t *testing.T) {
	t.Parallel()
	data, failures := orchestrator.Converters(sealer(t))
	sealed := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: true}).
		ErrorToFailure(temporal.NewApplicationError("the installation is paused already", "Conflict"))
	require.Equal(t, "Encoded failure", sealed.GetMessage())
	var back *temporal.ApplicationError
	require.ErrorAs(t, failures.FailureToError(sealed), &back)
	require.Equal(t, "the installation is paused already", back.Message())
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
