package frontend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/frontend"
)

// environment is a fixed set of variables.
type environment map[string]string

func (e environment) LookupEnv(name string) (string, bool) {
	value, found := e[name]
	return value, found
}

func (e environment) Environ() []string {
	var all []string
	for name, value := range e {
		all = append(all, name+"="+value)
	}
	return all
}

func TestExternalReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	t.Run("none when no address is named", func(t *testing.T) {
		t.Parallel()
		_, external, err := frontend.External(environment{"TEMPORAL_NAMESPACE": "other"})
		require.NoError(t, err)
		require.False(t, external)
	})
	t.Run("an address alone means our namespace without TLS", func(t *testing.T) {
		t.Parallel()
		found, external, err := frontend.External(environment{"TEMPORAL_ADDRESS": "temporal.example:7233"})
		require.NoError(t, err)
		require.True(t, external)
		require.True(t, found.External)
		require.Equal(t, "temporal.example:7233", found.Options.HostPort)
		require.Equal(t, frontend.Namespace, found.Options.Namespace)
		require.Nil(t, found.Options.ConnectionOptions.TLS)
	})
	t.Run("namespace and API key", func(t *testing.T) {
		t.Parallel()
		found, _, err := frontend.External(environment{
			"TEMPORAL_ADDRESS": "temporal.example:7233", "TEMPORAL_NAMESPACE": "other", "TEMPORAL_API_KEY": "secret",
		})
		require.NoError(t, err)
		require.Equal(t, "other", found.Options.Namespace)
		require.NotNil(t, found.Options.Credentials)
		require.NotNil(t, found.Options.ConnectionOptions.TLS)
	})
	t.Run("an error for a certificate that is not there", func(t *testing.T) {
		t.Parallel()
		_, _, err := frontend.External(environment{
			"TEMPORAL_ADDRESS": "temporal.example:7233", "TEMPORAL_TLS_CLIENT_CERT_PATH": "/none.pem",
			"TEMPORAL_TLS_CLIENT_KEY_PATH": "/none.key",
		})
		require.ErrorContains(t, err, "read Temporal client settings")
	})
}
