package built

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// TemporalConfig returns the file with which Temporal's own tools reach the bundled server of a service.
func TemporalConfig(dataDir string) string {
	return filepath.Join(dataDir, "temporal", "temporal.toml")
}

// Temporal returns options that reach it as these tools do.
func Temporal(tb testing.TB, dataDir string) client.Options {
	tb.Helper()
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{
		ConfigFilePath: TemporalConfig(dataDir), DisableEnv: true,
	})
	require.NoError(tb, err)
	return options
}
