package built

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/client/contexts"
)

// Admin returns how the command line of its machine reaches the service with a data folder.
func Admin(t *testing.T, dataDir string) contexts.Context {
	t.Helper()
	file, err := contexts.Read(filepath.Join(dataDir, contexts.AdminFile))
	require.NoError(t, err)
	admin, found := file.ByName("")
	require.True(t, found, "no context in %s", dataDir)
	return admin
}

// Carrier sends requests to that service and trusts its certificate, and no other of its own making.
func Carrier(t *testing.T, dataDir string) *http.Client {
	t.Helper()
	carrier, err := client.TransportPEM(Admin(t, dataDir).Authority, false)
	require.NoError(t, err)
	return carrier
}

// Administrator returns a client of that service with its first token.
func Administrator(t *testing.T, dataDir string) *client.Client {
	t.Helper()
	admin := Admin(t, dataDir)
	return client.New(client.Options{
		BaseURL: admin.Server, UserToken: admin.Secret(), HTTPClient: Carrier(t, dataDir), UserAgent: "slipway-test",
	})
}
