// Package pebble runs Pebble for tests.
package pebble

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
)

// Server is Pebble, the ACME server that Let's Encrypt tests clients with. It validates names for real, at a port of the test, by a DNS
// server that knows one address.
type Server struct {
	t                    *testing.T
	Directory, Authority string // of its HTTPS
	roots                string // address of the authority that signs
}

// Port returns a free port of loopback.
func Port(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// New starts Pebble; certificates are good for some seconds.
func New(t *testing.T, validated int, seconds int) *Server {
	t.Helper()
	folder := os.Getenv("PEBBLE") //nolint:forbidigo // of make
	if folder == "" {
		t.Skip("SKIP: this test needs Pebble (make test): PEBBLE names the folder with its programs")
	}
	s := &Server{t: t}
	lent := httptest.NewTLSServer(http.NotFoundHandler())
	certificate := lent.TLS.Certificates[0]
	lent.Close()
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	require.NoError(t, err)
	s.Authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	listen, management, dns := fmt.Sprintf("127.0.0.1:%d", Port(t)), fmt.Sprintf("127.0.0.1:%d", Port(t)), fmt.Sprintf("127.0.0.1:%d", Port(t))
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": management, "tlsPort": validated, "httpPort": Port(t), "keyAlgorithm": "ecdsa",
		"certificate": write("cert.pem", []byte(s.Authority)),
		"privateKey":  write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"profiles":    map[string]any{"default": map[string]any{"description": "short", "validityPeriod": seconds}},
	}})
	require.NoError(t, err)
	s.Directory, s.roots = "https://"+listen+"/dir", "https://"+management+"/roots/0"
	s.run(filepath.Join(folder, "pebble-challtestsrv"), "-dnsserver", dns, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "",
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", "127.0.0.1:"+strconv.Itoa(Port(t)))
	s.run(filepath.Join(folder, "pebble"), "-config", write("pebble.json", settings), "-dnsserver", dns)
	await.True(t, func() bool { _, err := s.get(s.roots); return err == nil }, "Pebble does not answer")
	return s
}

func (s *Server) run(program string, args ...string) {
	s.t.Helper()
	c := exec.CommandContext(context.WithoutCancel(s.t.Context()), program, args...)
	c.Env = append(c.Environ(), "PEBBLE_VA_NOSLEEP=1")
	c.Stdout, c.Stderr = s.t.Output(), s.t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(s.t, c.Start())
	s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
}

func (s *Server) get(address string) ([]byte, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.Authority))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// Roots returns the authority that signs, PEM.
func (s *Server) Roots() []byte {
	s.t.Helper()
	text, err := s.get(s.roots)
	require.NoError(s.t, err)
	return text
}
