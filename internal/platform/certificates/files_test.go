package certificates_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/certificates"
)

func TestCertificateIsOfThePinnedAuthority(t *testing.T) {
	t.Parallel()
	now := time.Now()
	named := func(name string) (*certificates.Authority, certificates.Pair) {
		a, pair, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: name}}, now, 24*time.Hour)
		require.NoError(t, err)
		return a, pair
	}
	pinned, pinnedPair := named("pinned")
	_, otherPair := named("other")
	listener, err := pinned.IssueServer([]string{"slipway.example.com"}, now, time.Hour)
	require.NoError(t, err)
	files := certificates.Files{Certificate: filepath.Join(t.TempDir(), "cert.pem")}
	require.NoError(t, os.WriteFile(files.Certificate, listener.Certificate, 0o600))

	require.True(t, files.For("slipway.example.com"))
	require.False(t, files.For("slipway.example.org"))
	require.NoError(t, files.CheckAuthority(pinnedPair.Certificate, now))
	require.NoError(t, files.CheckAuthority(append(otherPair.Certificate, pinnedPair.Certificate...), now), "one of two")
	require.NoError(t, files.CheckAuthority(pinnedPair.Certificate, now.Add(2*time.Hour)), "its end is said elsewhere")
	require.ErrorContains(t, files.CheckAuthority(otherPair.Certificate, now), "require a certificate that CN=other signed, found ")
	require.ErrorContains(t, files.CheckAuthority(otherPair.Certificate, now), " of CN=pinned: x509: ")
	require.EqualError(t, files.CheckAuthority([]byte("text"), now), "require a certificate in PEM, found none")
	missing := certificates.Files{Certificate: "/no/such/file"}
	require.ErrorContains(t, missing.CheckAuthority(pinnedPair.Certificate, now), "read the certificate: open /no/such/file")
	require.False(t, missing.For("slipway.example.com"))
}
