package certificates_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/certificates"
)

var start = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// served returns the certificate that a listener with these settings sends, and what a client with this authority says of it.
func served(t *testing.T, settings *tls.Config, authority, name string, now time.Time) (*x509.Certificate, error) {
	t.Helper()
	server, err := tls.Listen("tcp", "127.0.0.1:0", settings)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		if c, err := server.Accept(); err == nil {
			_ = c.(*tls.Conn).HandshakeContext(t.Context())
			_ = c.Close()
		}
	}()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(authority)))
	raw, err := net.Dial("tcp", server.Addr().String())
	require.NoError(t, err)
	c := tls.Client(raw, &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return now }, MinVersion: tls.VersionTLS12})
	defer c.Close()
	if err := c.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], nil
}

func TestOwnAuthoritySignsForAllNamesAndStays(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "tls"), start
	clock := func() time.Time { return now }
	own, err := certificates.OpenOwn(dir, []string{"slipway.example.com", "192.0.2.2"}, clock)
	require.NoError(t, err)
	settings, err := own.Files().Server(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, name := range []string{"slipway.example.com", "192.0.2.2"} {
		_, err := served(t, settings, own.Authority(), name, now)
		require.NoError(t, err, name)
	}
	_, err = served(t, settings, own.Authority(), "other.example.com", now)
	require.ErrorContains(t, err, "other.example.com")
	for _, name := range []string{"ca.key", "server.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}

	again, err := certificates.OpenOwn(dir, []string{"slipway.example.com", "192.0.2.3"}, clock)
	require.NoError(t, err)
	require.Equal(t, own.Authority(), again.Authority(), "hosts trust it")
	_, err = served(t, settings, own.Authority(), "192.0.2.3", now)
	require.NoError(t, err, "a listener takes the new certificate without a restart")

	first, err := served(t, settings, own.Authority(), "192.0.2.3", now)
	require.NoError(t, err)
	now = first.NotAfter.Add(-time.Hour)
	_, err = certificates.OpenOwn(dir, []string{"192.0.2.3"}, clock)
	require.NoError(t, err)
	next, err := served(t, settings, own.Authority(), "192.0.2.3", now)
	require.NoError(t, err)
	require.True(t, next.NotAfter.After(now.AddDate(1, 0, 0)), "renewed before its end: %s", next.NotAfter)
}

func TestProcessesThatStartAtOnceHaveOneAuthority(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	var all sync.WaitGroup
	found := make([]string, 8)
	for n := range found {
		all.Go(func() {
			own, err := certificates.OpenOwn(dir, []string{"localhost"}, time.Now)
			if err == nil {
				found[n] = own.Authority()
			}
		})
	}
	all.Wait()
	for _, authority := range found {
		require.NotEmpty(t, authority)
		require.Equal(t, found[0], authority)
	}
}

// A host without NTP whose clock holds local time, or was lost, has to reach the service that shows it to its user.
func TestClocksThatAreBehindTrustCertificates(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.November, 25, 8, 0, 0, 0, time.UTC)
	authority, root, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: "company"}}, start, 24*time.Hour)
	require.NoError(t, err)
	pair, err := authority.Issue(x509.Certificate{DNSNames: []string{"slipway.example.com"}}, start, time.Hour)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(root.Certificate))
	certificate, err := certificates.ParseCertificate(pair.Certificate)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		at    time.Time
		valid bool
	}{
		"on time":                    {start, true},
		"two hours behind":           {start.Add(-2 * time.Hour), true},
		"half a day behind":          {start.Add(-12 * time.Hour), true},
		"as a machine was delivered": {time.Date(2015, time.January, 1, 0, 0, 0, 0, time.UTC), true},
		"after its end":              {start.Add(2 * time.Hour), false},
	} {
		_, err := certificate.Verify(x509.VerifyOptions{DNSName: "slipway.example.com", Roots: roots, CurrentTime: c.at})
		require.Equal(t, c.valid, err == nil, "%s: %v", name, err)
	}
}

func TestDamagedAuthorityIsNotReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	_, err := certificates.OpenOwn(dir, []string{"localhost"}, time.Now)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "ca.key")))
	_, err = certificates.OpenOwn(dir, []string{"localhost"}, time.Now)
	require.ErrorContains(t, err, "read the key of the authority")
}

func TestFilesThatDoNotBelongTogetherLeaveTheCertificateBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := certificates.Files{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	_, err := files.Server(slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "tls.crt")
	authority, root, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: "company"}}, start, 24*time.Hour)
	require.NoError(t, err)
	write := func(name string) certificates.Pair {
		pair, err := authority.Issue(x509.Certificate{DNSNames: []string{name}}, start, time.Hour)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(files.Certificate, pair.Certificate, 0o600))
		return pair
	}
	require.NoError(t, os.WriteFile(files.Key, write("one.example.com").Key, 0o600))
	settings, err := files.Server(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	second := write("two.example.com") // and not its key
	_, err = served(t, settings, string(root.Certificate), "one.example.com", start)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Key, second.Key, 0o600))
	_, err = served(t, settings, string(root.Certificate), "two.example.com", start)
	require.NoError(t, err)
}
