package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/certificates"
	"slipway/internal/wire"
	"slipway/test/built"
)

// replicas are the processes of a service on a Temporal cluster of its operator.
type replicas struct {
	temporal      *temporalCluster
	apis, workers []*part
	shared        string   // folder of keys, authority and files
	env           []string // of all
}

// dataDir makes a folder for a replica.
func (r *replicas) dataDir(t *testing.T, f *fleet, name string) string {
	t.Helper()
	folder := filepath.Join(f.dir, name)
	require.NoError(t, os.Mkdir(folder, 0o700))
	token, err := os.ReadFile(filepath.Join(r.shared, "token.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "token.key"), token, 0o600))
	return folder
}

// Two APIs and three workers share a database, and a Temporal cluster whose four services are processes of their own with mutual TLS. Each
// process is killed while a cluster is installed; APIs and workers come back as a newer build.
func TestReplicasInstallWhileEachProcessIsReplaced(t *testing.T) {
	t.Parallel()
	f := releases(t)
	r := &replicas{temporal: startTemporalCluster(t, f.dir, false)}
	r.startService(t, f, 2, 3,
		"TEMPORAL_TLS_CLIENT_CERT_PATH="+r.temporal.file("client.pem"), "TEMPORAL_TLS_CLIENT_KEY_PATH="+r.temporal.file("client.key"))

	s := shape{masters: 3, workers: 2, speed: 40}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "writing", stageOf("master-1", wire.HostStageWritingImageToDisk))
	for _, p := range slices.Concat(r.temporal.processes, r.apis, r.workers) {
		p.set(setBuild + build2) // APIs and Temporal have no use for it
		require.True(t, p.signal(syscall.SIGKILL), p.name)
		built.WaitReady(t, f.url)
		time.Sleep(2 * time.Second) // the next one beside it, or after it
	}
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
}

// A Temporal cluster with an authorizer takes keys of an API, as Temporal Cloud does: one with too few rights is refused before the
// service does anything, and one that administers the namespace makes it and installs a cluster.
func TestReplicasReachTemporalWithAnAPIKey(t *testing.T) {
	t.Parallel()
	f := releases(t)
	cluster := startTemporalCluster(t, f.dir, true)
	r := &replicas{temporal: cluster}
	r.startService(t, f, 1, 1, "TEMPORAL_API_KEY="+cluster.key(t, "slipway:admin"))
	folder := r.dataDir(t, f, "refused")
	for _, c := range []struct{ namespace, key, says string }{
		{"absent", cluster.key(t, "absent:write"), "temporal operator namespace create --retention 30d --namespace absent"},
		{"slipway", cluster.key(t, "elsewhere:admin"), "these credentials may not read workflows"},
		{"slipway", "forged", "failed reaching server: Request unauthorized"},
	} {
		cmd := exec.Command(f.program, "api", "--data-dir", folder, "--listen", built.FreeAddress(t)) //nolint:gosec // built here
		cmd.Env = append(append(os.Environ(), r.env...), "TEMPORAL_NAMESPACE="+c.namespace, "TEMPORAL_API_KEY="+c.key)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), c.says)
	}

	s := shape{masters: 1, speed: 40}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
}

// startService runs APIs behind a balancer, and workers. Each has a folder of its own; keys, authority and files are shared.
func (r *replicas) startService(t *testing.T, f *fleet, apis, workers int, credentials ...string) {
	t.Helper()
	r.shared = filepath.Join(f.dir, "shared")
	require.NoError(t, os.MkdirAll(filepath.Join(r.shared, "blobs"), 0o700))
	authority, own, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: "site"}}, time.Now(), time.Hour)
	require.NoError(t, err)
	pair, err := authority.Issue(x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, time.Now(), time.Hour)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	in := func(name string) string { return filepath.Join(r.shared, name) }
	for name, content := range map[string][]byte{
		"ca.pem": own.Certificate, "tls.pem": pair.Certificate, "tls.key": pair.Key,
		"token.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"keys":      fmt.Appendf(nil, "%s\n", base64.StdEncoding.EncodeToString(random)),
	} {
		require.NoError(t, os.WriteFile(in(name), content, 0o600))
	}
	database := r.temporal.database
	url := fmt.Sprintf("postgres:///%s?host=%s&port=%d&user=%s&sslmode=disable",
		database.Database, database.Host, database.Port, database.User)
	r.env = slices.Concat([]string{
		f.offers(t), setBuild + build1, "SLIPWAY_DATABASE_URL=" + url, "SLIPWAY_BLOB_URL=file://" + in("blobs"), "SLIPWAY_KEY_FILE=" + in("keys"),
	}, r.temporal.environment(), credentials)
	address := built.FreeAddress(t)
	f.url = "https://" + address
	start := func(kind string, n int, more ...string) (*part, string) {
		name := "replica-" + kind + "-" + strconv.Itoa(n) // machines are called worker-0 as well
		folder, listen := r.dataDir(t, f, name), built.FreeAddress(t)
		p := &part{name: name, log: filepath.Join(f.dir, name+".log"), env: r.env, args: append([]string{
			kind, "--data-dir", folder, "--listen", listen, "--base-url", f.url, "--service-ca", in("ca.pem"),
			"--insecure-registry", f.registry.Address(), "--installer-user", "0", "--installer-paths", f.demo, "--heartbeat", "20s",
		}, more...)}
		p.run(t, f.program)
		return p, listen
	}
	var backends []string
	for n := range apis {
		p, listen := start("api", n, "--tls-cert", in("tls.pem"), "--tls-key", in("tls.key"))
		built.WaitReady(t, "https://"+listen)
		r.apis, backends = append(r.apis, p), append(backends, listen)
	}
	for n := range workers {
		p, listen := start("worker", n)
		built.WaitReady(t, "http://"+listen)
		r.workers = append(r.workers, p)
	}
	balance(t, address, backends)
	f.dataDir = filepath.Join(f.dir, "replica-api-0")
	require.NoError(t, os.Symlink(in("keys"), filepath.Join(f.dataDir, "keys")))
	f.client = built.Administrator(t, f.dataDir)
	f.openStore(t, url)
}

// balance passes connections on to whatever backend answers, in turn, as a load balancer that does not end TLS.
func balance(t *testing.T, address string, backends []string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	var turn atomic.Int32
	pass := func(client net.Conn) {
		defer client.Close()
		for range backends {
			backend, err := net.Dial("tcp", backends[int(turn.Add(1))%len(backends)])
			if err != nil {
				continue
			}
			defer backend.Close()
			go func() {
				_, _ = io.Copy(backend, client)
				_ = backend.Close()
			}()
			_, _ = io.Copy(client, backend)
			return
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(client)
		}
	}()
}
