package client_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
)

// A pinned authority stands alone: a certificate that an authority of the system signs for the name of a service is refused.
func TestPinnedAuthorityIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	pinned, err := client.Pinned(authority)
	require.NoError(t, err)
	alone := x509.NewCertPool()
	alone.AddCert(server.Certificate())
	require.True(t, pinned.Transport.(*http.Transport).TLSClientConfig.RootCAs.Equal(alone))
	response, err := pinned.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	// Agents and controllers read it from a file.
	path := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(path, authority, 0o600))
	read, err := client.Transport(path, false)
	require.NoError(t, err)
	require.True(t, read.Transport.(*http.Transport).TLSClientConfig.RootCAs.Equal(alone))

	system, err := client.Pinned(nil)
	require.NoError(t, err)
	require.Nil(t, system.Transport.(*http.Transport).TLSClientConfig.RootCAs)
	_, err = client.Pinned([]byte("no certificate"))
	require.ErrorContains(t, err, "no PEM certificate found")
}
