package main

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

// certified holds the paths of an authority and of a certificate that it signed for this machine.
type certified struct{ authority, cert, key string }

func issued(t *testing.T, name string) certified {
	t.Helper()
	authority, pair, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: name}}, time.Now(), time.Hour)
	require.NoError(t, err)
	listener, err := authority.IssueServer([]string{"127.0.0.1"}, time.Now(), time.Hour)
	require.NoError(t, err)
	folder := t.TempDir()
	c := certified{filepath.Join(folder, "ca.pem"), filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}
	for path, content := range map[string][]byte{c.authority: pair.Certificate, c.cert: listener.Certificate, c.key: listener.Key} {
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	return c
}
