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
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/platform/certificates"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
	"slipway/test/built"
)

// temporalName is the name in the certificates of Temporal.
const temporalName = "temporal.example.com"

// replicas are the processes of a service on a Temporal cluster of its operator.
type replicas struct {
	temporal, apis, workers []*part
	database                *pgx.ConnConfig
	address                 string // of Temporal's frontend
	certificates            string // folder
}

// Two APIs and three workers share a database, and a Temporal cluster whose four services are processes of their own with mutual TLS. Each
// process is killed while a cluster is installed; APIs and workers come back as a newer build.
func TestReplicasInstallWhileEachProcessIsReplaced(t *testing.T) {
	t.Parallel()
	program := os.Getenv("TEMPORAL_SERVER")
	if program == "" {
		t.Skip("SKIP: this test needs TEMPORAL_SERVER (make test-replicas)")
	}
	f := releases(t)
	r := &replicas{certificates: filepath.Join(f.dir, "temporal")}
	r.startTemporal(t, f, program)
	r.startService(t, f)

	s := shape{masters: 3, workers: 2, speed: 40}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "writing", stageOf("master-1", wire.HostStageWritingImageToDisk))
	for _, p := range append(append(r.temporal, r.apis...), r.workers...) {
		p.set(setBuild + build2) // APIs and Temporal have no use for it
		require.True(t, p.signal(syscall.SIGKILL), p.name)
		built.WaitReady(t, f.url)
		time.Sleep(2 * time.Second) // the next one beside it, or after it
	}
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
}

// startTemporal runs frontend, history, matching and worker of Temporal.
func (r *replicas) startTemporal(t *testing.T, f *fleet, program string) {
	t.Helper()
	var err error
	r.database, err = pgx.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	admin, err := pgx.ConnectConfig(t.Context(), r.database)
	require.NoError(t, err)
	defer admin.Close(t.Context())
	tool := filepath.Join(filepath.Dir(program), "temporal-sql-tool")
	for database, schema := range map[string]string{
		"temporal": "postgresql/v12/temporal", "temporal_visibility": "postgresql/v12/visibility",
	} {
		_, err := admin.Exec(t.Context(), "create database "+database)
		require.NoError(t, err)
		for _, args := range [][]string{{"setup-schema", "--version", "0.0"}, {"update-schema", "--schema-name", schema}} {
			cmd := exec.Command(tool, append([]string{ //nolint:gosec // Temporal's own tool
				"--plugin", "postgres12_pgx", "--endpoint", "localhost", "--port", strconv.Itoa(int(r.database.Port)),
				"--user", r.database.User, "--database", database, "--connect-attributes", "host=" + r.database.Host,
			}, args...)...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%q: %s", args, out)
		}
	}
	_, err = admin.Exec(t.Context(), "create database slipway")
	require.NoError(t, err)

	require.NoError(t, os.Mkdir(r.certificates, 0o700))
	ca := x509.Certificate{Subject: pkix.Name{CommonName: "Temporal's authority"}}
	authority, own, err := certificates.NewAuthority(ca, time.Now(), time.Hour)
	require.NoError(t, err)
	r.write(t, "ca.pem", own.Certificate)
	for name, template := range map[string]x509.Certificate{
		"server": {
			Subject: pkix.Name{CommonName: temporalName}, DNSNames: []string{temporalName},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		},
		"client": {Subject: pkix.Name{CommonName: "slipway"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	} {
		pair, err := authority.Issue(template, time.Now(), time.Hour)
		require.NoError(t, err)
		r.write(t, name+".pem", pair.Certificate)
		r.write(t, name+".key", pair.Key)
	}
	const each = 3 // ports of a service: gRPC, membership, HTTP
	services := []string{"history", "matching", "frontend", "worker"}
	first := built.FreePorts(t, each*len(services))
	r.address = fmt.Sprintf("127.0.0.1:%d", first+each*2)
	config := filepath.Join(f.dir, "temporal.yaml")
	require.NoError(t, os.WriteFile(config, r.temporalConfig(t, services, first), 0o600))
	for _, service := range services {
		p := &part{
			name: "temporal " + service, log: filepath.Join(f.dir, "temporal-"+service+".log"),
			args: []string{"--config-file", config, "--allow-no-auth", "start", "--service", service},
		}
		p.run(t, program)
		r.temporal = append(r.temporal, p)
	}
}

func (r *replicas) file(name string) string { return filepath.Join(r.certificates, name) }

func (r *replicas) write(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(r.file(name), content, 0o600))
}

// temporalConfig returns the configuration of a cluster as Temporal's documentation has it ("Temporal Service configuration reference"):
// all services with certificates for both sides, that find each other by their membership protocol.
func (r *replicas) temporalConfig(t *testing.T, services []string, first int) []byte {
	t.Helper()
	type object = map[string]any
	store := func(database string) object {
		return object{"sql": object{
			"pluginName": "postgres12_pgx", "databaseName": database, "connectAddr": fmt.Sprintf("localhost:%d", r.database.Port),
			"connectProtocol": "tcp", "user": r.database.User, "connectAttributes": object{"host": r.database.Host},
			"maxConns": 10, "maxIdleConns": 10,
		}}
	}
	server := object{
		"certFile": r.file("server.pem"), "keyFile": r.file("server.key"), "requireClientAuth": true,
		"clientCaFiles": []string{r.file("ca.pem")},
	}
	client := object{"serverName": temporalName, "rootCaFiles": []string{r.file("ca.pem")}}
	listens := object{}
	for n, service := range services {
		port := first + 3*n
		rpc := object{"grpcPort": port, "membershipPort": port + 1, "bindOnIP": "127.0.0.1"}
		if service == "frontend" {
			rpc["httpPort"] = port + 2
		}
		listens[service] = object{"rpc": rpc}
	}
	text, err := yaml.Marshal(object{
		"log": object{"stdout": true, "level": "warn"},
		"persistence": object{
			"defaultStore": "default", "visibilityStore": "visibility", "numHistoryShards": 4,
			"datastores": object{"default": store("temporal"), "visibility": store("temporal_visibility")},
		},
		"global": object{
			"membership": object{"maxJoinDuration": "30s", "broadcastAddress": "127.0.0.1"},
			"tls": object{
				"internode": object{"server": server, "client": client}, "frontend": object{"server": server, "client": client},
				"systemWorker": object{"certFile": r.file("server.pem"), "keyFile": r.file("server.key"), "client": client},
			},
		},
		"services": listens,
		"clusterMetadata": object{
			"enableGlobalNamespace": false, "failoverVersionIncrement": 10, "masterClusterName": "active", "currentClusterName": "active",
			"clusterInformation": object{"active": object{
				"enabled": true, "initialFailoverVersion": 1, "rpcName": "frontend", "rpcAddress": r.address,
			}},
		},
		"dcRedirectionPolicy": object{"policy": "noop"},
		"publicClient":        object{"hostPort": r.address},
	})
	require.NoError(t, err)
	return text
}

// startService runs two APIs behind a balancer, and three workers. Each has a folder of its own; keys, authority and files are shared.
func (r *replicas) startService(t *testing.T, f *fleet) {
	t.Helper()
	shared := filepath.Join(f.dir, "shared")
	require.NoError(t, os.MkdirAll(filepath.Join(shared, "blobs"), 0o700))
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
	in := func(name string) string { return filepath.Join(shared, name) }
	for name, content := range map[string][]byte{
		"ca.pem": own.Certificate, "tls.pem": pair.Certificate, "tls.key": pair.Key,
		"token.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"keys":      fmt.Appendf(nil, "%s\n", base64.StdEncoding.EncodeToString(random)),
	} {
		require.NoError(t, os.WriteFile(in(name), content, 0o600))
	}
	database := r.database.Copy()
	database.Database = "slipway"
	url := fmt.Sprintf("postgres:///slipway?host=%s&port=%d&user=%s&sslmode=disable", database.Host, database.Port, database.User)
	env := []string{
		f.offers(t), setBuild + build1, "SLIPWAY_DATABASE_URL=" + url, "SLIPWAY_BLOB_URL=file://" + in("blobs"), "SLIPWAY_KEY_FILE=" + in("keys"),
		"TEMPORAL_ADDRESS=" + r.address, "TEMPORAL_TLS_SERVER_NAME=" + temporalName, "TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + r.file("ca.pem"),
		"TEMPORAL_TLS_CLIENT_CERT_PATH=" + r.file("client.pem"), "TEMPORAL_TLS_CLIENT_KEY_PATH=" + r.file("client.key"),
	}
	address := built.FreeAddress(t)
	f.url = "https://" + address
	start := func(kind string, n int, more ...string) (*part, string) {
		name := "replica-" + kind + "-" + strconv.Itoa(n) // machines are called worker-0 as well
		folder, listen := filepath.Join(f.dir, name), built.FreeAddress(t)
		require.NoError(t, os.Mkdir(folder, 0o700))
		token, err := os.ReadFile(in("token.key"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "token.key"), token, 0o600))
		p := &part{name: name, log: filepath.Join(f.dir, name+".log"), env: env, args: append([]string{
			kind, "--data-dir", folder, "--listen", listen, "--base-url", f.url, "--service-ca", in("ca.pem"),
			"--insecure-registry", f.registry.Address(), "--installer-user", "0", "--installer-paths", f.demo, "--heartbeat", "20s",
		}, more...)}
		p.run(t, f.program)
		return p, listen
	}
	var backends []string
	for n := range 2 {
		p, listen := start("api", n, "--tls-cert", in("tls.pem"), "--tls-key", in("tls.key"))
		built.WaitReady(t, "https://"+listen)
		r.apis, backends = append(r.apis, p), append(backends, listen)
	}
	for n := range 3 {
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
