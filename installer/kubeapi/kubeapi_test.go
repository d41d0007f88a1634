package kubeapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/installer/kubeapi"
)

const nodes = `{"items":[
	{"metadata":{"name":"master-1","labels":{"node-role.kubernetes.io/master":""},"annotations":{
	 "machineconfiguration.openshift.io/currentConfig":"rendered-master-1","machineconfiguration.openshift.io/desiredConfig":"rendered-master-2",
	 "machineconfiguration.openshift.io/state":"Working"}},
	 "spec":{"taints":[{"key":"node-role.kubernetes.io/master","effect":"NoSchedule"},
	 {"key":"node.cloudprovider.kubernetes.io/uninitialized","value":"true","effect":"NoSchedule"}]},
	 "status":{"addresses":[{"type":"InternalIP","address":"192.0.2.11"},{"type":"Hostname","address":"master-1"},{"type":"ExternalIP","address":"198.51.100.1"}],
	 "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}},
	{"metadata":{"name":"master-2","labels":{"node-role.kubernetes.io/control-plane":""}},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}},
	{"metadata":{"name":"arbiter","labels":{"node-role.kubernetes.io/arbiter":""}}},
	{"metadata":{"name":"worker-1","labels":{"node-role.kubernetes.io/worker":""}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`

// server starts an API that lets only clients with a certificate or the token in.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/nodes", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, nodes) })
	mux.HandleFunc("GET /api/v1/namespaces/assisted-installer/events/Ready", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{}`)
	})
	const configs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	mux.HandleFunc("GET "+configs+"rendered-master-1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{}`)
	})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 && r.Header.Get("Authorization") != "Bearer token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func encode(kind string, der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func kubeconfig(s *httptest.Server, user string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: admin
contexts:
- name: other
  context: {cluster: none, user: none}
- name: admin
  context: {cluster: c, user: admin}
clusters:
- name: c
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user: {%s}
`, s.URL, encode("CERTIFICATE", s.Certificate().Raw), user)
}

func clientCertificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "system:admin"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return "client-certificate-data: " + encode("CERTIFICATE", certificate) + ", client-key-data: " + encode("EC PRIVATE KEY", private)
}

func TestClientReadsTheControlPlane(t *testing.T) {
	t.Parallel()
	s := server(t)
	for name, user := range map[string]string{"with a certificate": clientCertificate(t), "with a token": "token: token"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := kubeapi.Open(kubeconfig(s, user))
			require.NoError(t, err)
			masters, err := c.Masters(t.Context())
			require.NoError(t, err)
			require.Equal(t, []installer.Node{
				{
					Name: "master-1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.11")}, Ready: true, Uninitialized: true,
					MachineConfig: installer.MachineConfig{Current: "rendered-master-1", Desired: "rendered-master-2", State: "Working"},
				},
				{Name: "master-2"},
				{Name: "arbiter"},
			}, masters)
			found, err := c.EventExists(t.Context(), "assisted-installer", "Ready")
			require.NoError(t, err)
			require.True(t, found)
			found, err = c.EventExists(t.Context(), "assisted-installer", "Other")
			require.NoError(t, err)
			require.False(t, found)
			for config, want := range map[string]bool{"rendered-master-1": true, "rendered-master-2": false} {
				found, err = c.MachineConfigExists(t.Context(), config)
				require.NoError(t, err)
				require.Equal(t, want, found)
			}
		})
	}
}

func TestClientTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := server(t)
	c, err := kubeapi.Open(kubeconfig(s, "token: wrong"))
	require.NoError(t, err)
	_, err = c.Masters(t.Context())
	require.ErrorContains(t, err, "list the nodes: the API answered 401")
	_, err = c.EventExists(t.Context(), "a", "b")
	require.ErrorContains(t, err, "read event b: the API answered 401")
	for text, want := range map[string]string{
		"{":                     "read the kubeconfig",
		"current-context: none": `no cluster and user for the context "none"`,
		string(kubeconfig(s, "client-certificate-data: eA==, client-key-data: eA==")): "read the client certificate",
	} {
		_, err := kubeapi.Open([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

// Behind a proxy the agent's environment names one for the way to the service; it does not know the names of the
// new cluster, and refuses.
func TestClientAsksNoProxy(t *testing.T) {
	s := server(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	address, err := url.Parse(s.URL)
	require.NoError(t, err)
	// A name: the environment's proxy is never used for addresses of this machine. Nothing but the proxy would know it.
	config := strings.ReplaceAll(string(kubeconfig(s, "token: token")), s.URL, "https://api-int.c.example.invalid:"+address.Port())
	c, err := kubeapi.Open([]byte(config))
	require.NoError(t, err)
	_, err = c.Masters(t.Context())
	require.ErrorContains(t, err, "api-int.c.example.invalid")
	require.NotContains(t, err.Error(), "Service Unavailable")
}

func TestClientFreesUninitializedNodes(t *testing.T) {
	t.Parallel()
	const uninitialized = `{"key":"node.cloudprovider.kubernetes.io/uninitialized","value":"true","effect":"NoSchedule"}`
	var patches []string
	const master = `{"key":"node-role.kubernetes.io/master","effect":"NoSchedule"}`
	answer, spec := http.StatusOK, `{"taints":[`+uninitialized+`,`+master+`,`+uninitialized+`]}`
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/nodes/master-1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Method == http.MethodPatch {
			body, _ := io.ReadAll(r.Body)
			patches = append(patches, r.Header.Get("Content-Type")+" "+string(body))
			w.WriteHeader(answer)
		}
		_, _ = io.WriteString(w, `{"metadata":{"name":"master-1"},"spec":`+spec+`}`)
	}))
	t.Cleanup(s.Close)
	c, err := kubeapi.Open(kubeconfig(s, "token: token"))
	require.NoError(t, err)
	require.NoError(t, c.Initialize(t.Context(), "master-1"))
	require.Equal(t, []string{
		`application/json-patch+json [` +
			`{"op":"test","path":"/spec/taints/2/key","value":"node.cloudprovider.kubernetes.io/uninitialized"},{"op":"remove","path":"/spec/taints/2"},` +
			`{"op":"test","path":"/spec/taints/0/key","value":"node.cloudprovider.kubernetes.io/uninitialized"},{"op":"remove","path":"/spec/taints/0"}]`,
	}, patches)
	answer = http.StatusUnprocessableEntity // a taint was added meanwhile: another look follows
	require.ErrorContains(t, c.Initialize(t.Context(), "master-1"),
		"remove the taint node.cloudprovider.kubernetes.io/uninitialized of node master-1")
	spec = `{}`
	require.NoError(t, c.Initialize(t.Context(), "master-1"), "it has none")
	require.NoError(t, c.Initialize(t.Context(), "gone"))
	require.Len(t, patches, 2)
}
