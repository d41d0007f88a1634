package main

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/certificates"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

// authority makes an authority with its certificate in a file.
func authority(t *testing.T, name string) (*certificates.Authority, string) {
	t.Helper()
	a, pair, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: name}}, time.Now(), time.Hour)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name+".pem")
	require.NoError(t, os.WriteFile(path, pair.Certificate, 0o600))
	return a, path
}

// A company's authority that every machine trusts signs a certificate for the service's name: with a pinned authority that is not the
// service.
func TestAgentRefusesACertificateThatOnlyItsSystemTrusts(t *testing.T) {
	t.Parallel()
	ofTheSystem, trusted := authority(t, "company")
	_, pinned := authority(t, "pinned")
	pair, err := ofTheSystem.IssueServer([]string{"127.0.0.1"}, time.Now(), time.Hour)
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	require.NoError(t, err)
	requests := make(chan string, 100)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("X-Secret-Key")
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	run := func(flags ...string) *httpclient.Buffer {
		root, commands := machine(t)
		agent := exec.Command(os.Args[0], append([]string{
			"--url", s.URL, "--infra-env-id", envID, "--host-id", hostID, "--root", root,
		}, flags...)...)
		said := &httpclient.Buffer{}
		agent.Stderr = said
		agent.Env = append(os.Environ(), commandEnv+"=1", "PULL_SECRET_TOKEN=secret", "PATH="+commands, "SSL_CERT_FILE="+trusted)
		require.NoError(t, agent.Start())
		t.Cleanup(func() {
			_ = agent.Process.Kill()
			_ = agent.Wait()
		})
		return said
	}
	said := run("--cacert", pinned)
	await.True(t, func() bool {
		return strings.Contains(said.String(), "certificate signed by unknown authority")
	}, "the agent does not say why")
	require.Empty(t, requests, "its token went nowhere")

	run()
	require.Equal(t, "secret", await.Receive(t, requests), "without a pinned authority the system's are trusted")
}
