package main

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/certificates"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

func TestControllerRefusesACertificateThatOnlyItsSystemTrusts(t *testing.T) {
	t.Parallel()
	made := func(name string) (*certificates.Authority, string) {
		a, pair, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: name}}, time.Now(), time.Hour)
		require.NoError(t, err)
		return a, write(t, name+".pem", string(pair.Certificate))
	}
	ofTheSystem, trusted := made("company")
	_, pinned := made("pinned")
	pair, err := ofTheSystem.IssueServer([]string{"127.0.0.1"}, time.Now(), time.Hour)
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	require.NoError(t, err)
	s := newService(t, model.ClusterInstalled)
	front := httptest.NewUnstartedServer(s.Config.Handler)
	front.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	front.StartTLS()
	t.Cleanup(front.Close)
	run := func(more ...string) *httpclient.Buffer {
		c := command("--kubeconfig", kubeconfig(t))
		c.Env = append(c.Env, "CLUSTER_ID="+clusterID, "INVENTORY_URL="+front.URL, "PULL_SECRET_TOKEN=variable", "SSL_CERT_FILE="+trusted)
		c.Env = append(c.Env, more...)
		said := &httpclient.Buffer{}
		c.Stderr = said
		require.NoError(t, c.Start())
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return said
	}
	said := run("CA_CERT_PATH=" + pinned)
	await.True(t, func() bool {
		return strings.Contains(said.String(), "certificate signed by unknown authority")
	}, "the controller does not say why")
	require.Empty(t, s.tokens, "its token went nowhere")

	run()
	require.Equal(t, "variable", await.Receive(t, s.tokens), "without a pinned authority the system's are trusted")
}
