package steps_test

import (
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
	"slipway/internal/wire"
	"slipway/test/bench/netlab"
)

// serveTang runs a Tang server as a super-server would: one process a connection.
func (l *lan) serveTang(t *testing.T, address, keys string) {
	t.Helper()
	tangd, err := netlab.Find("tangd")
	require.NoError(t, err)
	listener := l.Listen(t, "tcp4", address)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			file, err := conn.(*net.TCPConn).File()
			_ = conn.Close()
			if err != nil {
				continue
			}
			cmd := exec.CommandContext(t.Context(), tangd, keys)
			cmd.Stdin, cmd.Stdout = file, file
			_ = cmd.Start() // who asked gets no answer
			_ = file.Close()
			go func() { _ = cmd.Wait() }()
		}
	}()
}

// makeKeys makes the keys of a Tang server, and returns the thumbprint of the key that signs.
func makeKeys(t *testing.T, folder string) string {
	t.Helper()
	keygen, err := netlab.Find("tangd-keygen")
	require.NoError(t, err)
	require.NoError(t, exec.Command(keygen, folder).Run())
	files, err := filepath.Glob(filepath.Join(folder, "*.jwk"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(content), `"sign"`) {
			return strings.TrimSuffix(filepath.Base(file), ".jwk")
		}
	}
	require.Fail(t, "no key that signs", "%s", files)
	return ""
}

func tangRequest(t *testing.T, servers ...string) string {
	t.Helper()
	var list []map[string]string
	for _, server := range servers {
		url, thumbprint, _ := strings.Cut(server, " ")
		list = append(list, map[string]string{"url": url, "thumbprint": thumbprint})
	}
	return argument(t, wire.TangConnectivityRequest{TangServers: argument(t, list)})
}

func TestTangServersAdvertiseTheirKeys(t *testing.T) {
	t.Parallel()
	h := newHost(t, "tang", "tangd", "tangd-keygen")
	one, two := t.TempDir(), t.TempDir()
	thumbprint, second := makeKeys(t, one), makeKeys(t, two)
	makeKeys(t, two) // a server whose keys were rotated signs with both
	const oneURL, twoURL = "http://" + gateway + ":7500", "http://" + gateway + ":7501/"
	h.lan.serveTang(t, gateway+":7500", one)
	h.lan.serveTang(t, gateway+":7501", two)
	h.start(t)

	found := answer[wire.TangConnectivityResponse](
		t,
		h,
		wire.StepTypeTangConnectivityCheck,
		tangRequest(t, oneURL+" "+thumbprint, twoURL+" "+second),
	)
	require.True(t, found.IsSuccess)
	require.Len(t, found.TangServerResponse, 2)
	require.Equal(t, oneURL, found.TangServerResponse[0].TangURL)
	require.NotEmpty(t, found.TangServerResponse[0].Signatures)
	require.NotEmpty(t, found.TangServerResponse[1].Signatures)
	keys, err := base64.RawURLEncoding.DecodeString(found.TangServerResponse[0].Payload)
	require.NoError(t, err)
	require.Contains(t, string(keys), `"deriveKey"`)

	for name, c := range map[string]struct{ server, says string }{
		"another server's thumbprint": {oneURL + " " + second, "found 404"},
		"a server that is away":       {"http://" + gateway + ":7502 " + thumbprint, "connection refused"},
		"a server of something else":  {serviceURL + " " + thumbprint, "found 404"},
	} {
		reply := h.ask(t, wire.StepTypeTangConnectivityCheck, tangRequest(t, oneURL+" "+thumbprint, c.server))
		require.Equal(t, -1, reply.ExitCode, name)
		require.Contains(t, reply.Error, c.says, name)
	}
}

// certificate makes one for an address, and what vouches for it.
func certificate(t *testing.T, address string) (tls.Certificate, []byte) {
	t.Helper()
	authority, err := pki.Authority("root-ca", time.Now())
	require.NoError(t, err)
	server, err := authority.Issue(pki.Subject{Name: "machine-config-server", Hosts: []string{address}}, time.Now())
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(server.Cert, server.Key)
	require.NoError(t, err)
	return certificate, authority.Cert
}

const nodeConfig = `{"ignition":{"version":"3.2.0"},"passwd":{"users":[{"name":"core"}]},"storage":{"luks":[{"name":"root","device":"/dev/x"}],"files":[
	{"path":"/etc/kubernetes/kubeconfig","contents":{"source":"data:,k"}},{"path":"/etc/secret","contents":{"source":"data:,s"}}]}}`

func TestMachineConfigServerIsAskedAsANodeDoes(t *testing.T) {
	t.Parallel()
	h := newHost(t, "mcs")
	own, authority := certificate(t, gateway)
	_, stranger := certificate(t, gateway)
	silent := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /config/worker", func(w http.ResponseWriter, r *http.Request) {
		// As the machine config server does: other versions of the format for other clients.
		if r.Header.Get("Accept") != "application/vnd.coreos.ignition+json; version=3.2.0" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(nodeConfig))
	})
	mux.HandleFunc("GET /hosted", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" || r.Header.Get("NodePool") != "blue" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(nodeConfig))
	})
	mux.HandleFunc("GET /old", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ignition":{"version":"1.0.0"}}`))
	})
	mux.HandleFunc("GET /silent", func(http.ResponseWriter, *http.Request) { <-silent })
	server := h.lan.serve(t, gateway+":22623", mux)
	t.Cleanup(func() { close(silent) })
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}}
	server.StartTLS()
	h.start(t)

	url := func(path string) string { return "https://" + gateway + ":22623" + path }
	for name, c := range map[string]struct {
		request wire.APIVipConnectivityRequest
		ca      []byte
		problem string // none when empty
	}{
		"a server its authority vouches for": {wire.APIVipConnectivityRequest{URL: url("/config/worker"), VerifyCidr: true}, authority, ""},
		"a hosted cluster's, with a token": {wire.APIVipConnectivityRequest{
			URL: url("/hosted"), IgnitionEndpointToken: "t0ken",
			RequestHeaders: []wire.APIVipConnectivityAdditionalRequestHeader{{Key: "NodePool", Value: "blue"}},
		}, authority, ""},
		"a wrong token": {
			wire.APIVipConnectivityRequest{URL: url("/hosted"), IgnitionEndpointToken: "other"}, authority, "found 403",
		},
		"a stranger's authority": {
			wire.APIVipConnectivityRequest{URL: url("/config/worker")}, stranger, "certificate signed by unknown authority",
		},
		"a configuration of another age": {wire.APIVipConnectivityRequest{URL: url("/old")}, authority, "version"},
		"a server that is away": {
			wire.APIVipConnectivityRequest{URL: "https://" + gateway + ":22624/config/worker"}, authority, "connection refused",
		},
		"a server that never answers": {wire.APIVipConnectivityRequest{URL: url("/silent")}, authority, "deadline exceeded"},
	} {
		c.request.CaCertificate = base64.StdEncoding.EncodeToString(c.ca)
		found := answer[wire.APIVipConnectivityResponse](t, h, wire.StepTypeAPIVipConnectivityCheck, argument(t, c.request))
		require.Equal(t, c.request.URL, found.URL, name)
		require.Equal(t, c.problem == "", found.IsSuccess, "%s: %s", name, found.DownloadError)
		require.Contains(t, found.DownloadError, c.problem, name)
		if found.IsSuccess {
			require.Contains(t, found.Ignition, `"luks":[{"name":"root","device":"/dev/x"}]`, name)
			require.Contains(t, found.Ignition, "/etc/kubernetes/kubeconfig", name)
			require.NotContains(t, found.Ignition, "/etc/secret", name)
			require.NotContains(t, found.Ignition, "passwd", name)
		}
	}
}
