package certificates_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/certificates"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/pebble"
)

// site is a listener with certificates of an ACME server.
type site struct {
	*certificates.ACME
	address string
}

// serve listens at a port, with files of before in dir.
func serve(t *testing.T, at int, o certificates.ACMEOptions) *site {
	t.Helper()
	own, err := certificates.OpenOwn(folder(t), []string{"127.0.0.1", "slipway.example"}, time.Now)
	require.NoError(t, err)
	otherwise, err := own.Files().Server(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	o.Otherwise, o.Log, o.Now = otherwise.GetCertificate, logger(t), time.Now
	o.Name, o.Port = "slipway.example", at
	acme, err := certificates.NewACME(o)
	require.NoError(t, err)
	s := &site{ACME: acme, address: fmt.Sprintf("127.0.0.1:%d", at)}
	listener, err := tls.Listen("tcp", s.address, acme.Server())
	require.NoError(t, err)
	server := &http.Server{
		Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
	}
	go func() { _ = server.Serve(listener) }()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); acme.Keep(ctx) }()
	t.Cleanup(func() { stop(); <-done; _ = server.Close() })
	return s
}

// logger keeps what is logged, which may be after the test, and shows it when the test fails.
func logger(t *testing.T) *slog.Logger {
	t.Helper()
	logged := &httpclient.Buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logged: %s", logged.String())
		}
	})
	return slog.New(slog.NewTextHandler(logged, nil))
}

// sends returns the certificate that the listener sends for a name.
func (s *site) sends(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	d := &tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}} //nolint:gosec // the caller looks at it
	conn, err := d.DialContext(t.Context(), "tcp", s.address)
	require.NoError(t, err)
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// The server is there later than the service, proves the name at the listener, and signs the next certificate before the first ends.
func TestCertificatesOfAnACMEServer(t *testing.T) {
	t.Parallel()
	at, dir := pebble.Port(t), filepath.Join(folder(t), "acme")
	s := pebble.New(t, at, 20)
	site := serve(t, at, certificates.ACMEOptions{
		Directory: s.Directory, Authorities: []byte(s.Authority), Dir: dir, Email: "ops@example.com",
		Check: time.Second,
	})
	await.True(t, func() bool { _, err := site.End(); return err == nil }, "no certificate")
	first := site.sends(t, "slipway.example")
	require.Contains(t, first.Issuer.CommonName, "Pebble Intermediate CA")
	end, err := site.End()
	require.NoError(t, err)
	require.Equal(t, first.NotAfter, end)
	for _, other := range []string{"", "other.example"} {
		require.NotContains(t, site.sends(t, other).Issuer.CommonName, "Pebble", "other names have the service's own")
	}
	await.True(t, func() bool {
		return site.sends(t, "slipway.example").SerialNumber.Cmp(first.SerialNumber) != 0
	}, "the certificate was not renewed")
	require.Contains(t, site.sends(t, "slipway.example").Issuer.CommonName, "Pebble Intermediate CA")

	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077, "keys are there")
}

// folders holds the folders of tests until the process ends: the library goes ahead in the background after Keep, and writes meanwhile.
var folders string

func TestMain(m *testing.M) {
	var err error
	if folders, err = os.MkdirTemp("", "slipway-acme-*"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folders)
	os.Exit(code)
}

// folder returns a folder for certificates.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(folders, "") //nolint:usetesting // TempDir fails when a file comes while it removes
	require.NoError(t, err)
	return dir
}

func TestServiceAnswersWithoutItsACMEServer(t *testing.T) {
	t.Parallel()
	directory := fmt.Sprintf("https://127.0.0.1:%d/dir", pebble.Port(t))
	site := serve(t, pebble.Port(t), certificates.ACMEOptions{Directory: directory, Dir: folder(t)})
	require.NotEmpty(t, site.sends(t, "slipway.example").Issuer.CommonName)
	_, err := site.End()
	require.ErrorContains(t, err, "slipway.example has no certificate of https://127.0.0.1:")

	_, err = certificates.NewACME(certificates.ACMEOptions{Authorities: []byte("none")})
	require.ErrorContains(t, err, "no PEM certificate found")
}
