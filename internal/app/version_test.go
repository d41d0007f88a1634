package app

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app/process"
	"slipway/internal/platform/engine"
	"slipway/internal/version"
)

func TestVersionIsPrintedAsTextAndJSON(t *testing.T) {
	t.Parallel()
	printed := func(args ...string) string {
		var out, errs bytes.Buffer
		require.Zero(t, Main(t.Context(), &process.Process{Stdout: &out, Stderr: &errs, Env: envconfig.EnvLookupOS}, args), errs.String())
		return out.String()
	}
	require.Equal(t, "slipway "+version.Read().String()+", Temporal server "+engine.ServerVersion+"\n", printed("version"))
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed("version", "-o", "json")), &report))
	require.Equal(t, version.Number, report["version"])
	require.Equal(t, engine.ServerVersion, report["temporal_server"])
}
