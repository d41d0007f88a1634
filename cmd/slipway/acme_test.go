package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/testing/pebble"
)

func TestServiceHasTheCertificateOfAnACMEServer(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	at := pebble.Port(t)
	server := pebble.New(t, at, 3600)
	authority := filepath.Join(t.TempDir(), "acme.pem")
	require.NoError(t, os.WriteFile(authority, []byte(server.Authority), 0o600))
	start(t, []string{
		fmt.Sprintf("SLIPWAY_LISTEN=127.0.0.1:%d", at), fmt.Sprintf("SLIPWAY_BASE_URL=https://slipway.example:%d", at),
		"SLIPWAY_ACME_DIRECTORY=" + server.Directory, "SLIPWAY_ACME_CA_FILE=" + authority,
	}, "up", "--data-dir", dataFolder(t))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(server.Roots()))
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at}
	await.True(t, func() bool {
		c := &http.Client{Transport: &http.Transport{DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
			conn, err := net.DialTCP("tcp", nil, here)
			if err != nil {
				return nil, err
			}
			secure := tls.Client(conn, &tls.Config{ServerName: "slipway.example", RootCAs: pool, MinVersion: tls.VersionTLS12})
			return secure, secure.HandshakeContext(t.Context())
		}}}
		response, err := c.Get(fmt.Sprintf("https://slipway.example:%d/ready", at))
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, "no certificate of the ACME server")
}
