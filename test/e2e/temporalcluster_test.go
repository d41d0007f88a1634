package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/platform/certificates"
	"slipway/internal/testing/pgtest"
	"slipway/test/built"
)

const (
	// temporalName is the name in the certificates of Temporal.
	temporalName = "temporal.example.com"
	// internalFrontend is the service that Temporal's own workers call where callers are authorized
	// ("internal-frontend" in temporal/server.go of the server).
	internalFrontend = "internal-frontend"
)

// temporalCluster is one of an operator.
type temporalCluster struct {
	processes    []*part
	database     *pgx.ConnConfig
	address      string // of the frontend
	certificates string // folder
	authorized   bool
	signer       *rsa.PrivateKey // of keys, where callers are authorized
}

// startTemporalCluster runs frontend, history, matching and worker of Temporal as processes of their own, beside the database of the
// service. Callers need a certificate; an authorized cluster has an authorizer instead, which takes keys.
func startTemporalCluster(t *testing.T, dir string, authorized bool) *temporalCluster {
	t.Helper()
	program := os.Getenv("TEMPORAL_SERVER")
	if program == "" {
		t.Skip("SKIP: this test needs TEMPORAL_SERVER (make test-replicas)")
	}
	database, err := pgx.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	r := &temporalCluster{certificates: filepath.Join(dir, "temporal"), database: database, authorized: authorized}
	admin, err := pgx.ConnectConfig(t.Context(), r.database)
	require.NoError(t, err)
	defer admin.Close(t.Context())
	tool := filepath.Join(filepath.Dir(program), "temporal-sql-tool")
	// Clusters of other tests are on the same server.
	for database, schema := range map[string]string{
		database.Database + "_temporal": "postgresql/v12/temporal", database.Database + "_visibility": "postgresql/v12/visibility",
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
	if authorized {
		r.signer = r.writeKeys(t)
		services = append(services, internalFrontend)
	}
	first := built.FreePorts(t, each*len(services))
	r.address = fmt.Sprintf("127.0.0.1:%d", first+each*2)
	config := filepath.Join(dir, "temporal.yaml")
	require.NoError(t, os.WriteFile(config, r.config(t, services, first), 0o600))
	for _, service := range services {
		p := &part{
			name: "temporal " + service, log: filepath.Join(dir, "temporal-"+service+".log"),
			args: []string{"--config-file", config, "--allow-no-auth=" + strconv.FormatBool(!authorized), "start", "--service", service},
		}
		p.run(t, program)
		r.processes = append(r.processes, p)
	}
	return r
}

// environment returns how a client reaches the cluster, without its credentials.
func (r *temporalCluster) environment() []string {
	return []string{
		"TEMPORAL_ADDRESS=" + r.address, "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_NAME=" + temporalName,
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + r.file("ca.pem"),
	}
}

// writeKeys makes the key that signs the keys of clients, and the set (RFC 7517) by which the authorizer knows it.
func (r *temporalCluster) writeKeys(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	exponent := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())
	r.write(t, "keys.json", fmt.Appendf(nil, `{"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"one","e":%q,"n":%q}]}`,
		exponent, base64.RawURLEncoding.EncodeToString(key.N.Bytes())))
	return key
}

// key returns a key for clients of the authorizer with permissions, NAMESPACE:ROLE.
func (r *temporalCluster) key(t *testing.T, permissions ...string) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"sub": "slipway", "permissions": permissions, "exp": time.Now().Add(time.Hour).Unix(),
	})
	token.Header["kid"] = "one"
	text, err := token.SignedString(r.signer)
	require.NoError(t, err)
	return text
}

func (r *temporalCluster) file(name string) string { return filepath.Join(r.certificates, name) }

func (r *temporalCluster) write(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(r.file(name), content, 0o600))
}

// config returns the configuration of the cluster as Temporal's documentation has it ("Temporal Service configuration reference"):
// all services with certificates for both sides, that find each other by their membership protocol.
func (r *temporalCluster) config(t *testing.T, services []string, first int) []byte {
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
	callers := server
	if r.authorized {
		callers = object{"certFile": r.file("server.pem"), "keyFile": r.file("server.key")}
	}
	listens := object{}
	for n, service := range services {
		port := first + 3*n
		rpc := object{"grpcPort": port, "membershipPort": port + 1, "bindOnIP": "127.0.0.1"}
		if service == "frontend" {
			rpc["httpPort"] = port + 2
		}
		listens[service] = object{"rpc": rpc}
	}
	config := object{
		"log": object{"stdout": true, "level": "warn"},
		"persistence": object{
			"defaultStore": "default", "visibilityStore": "visibility", "numHistoryShards": 4,
			"datastores": object{"default": store(r.database.Database + "_temporal"), "visibility": store(r.database.Database + "_visibility")},
		},
		"global": object{
			"membership": object{"maxJoinDuration": "30s", "broadcastAddress": "127.0.0.1"},
			"tls": object{
				"internode": object{"server": server, "client": client}, "frontend": object{"server": callers, "client": client},
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
	}
	if r.authorized {
		// Its own workers reach it through a frontend without an authorizer.
		config["global"].(object)["authorization"] = object{ //nolint:forcetypeassert // it stands above
			"authorizer": "default", "claimMapper": "default",
			"jwtKeyProvider": object{"keySourceURIs": []string{"file://" + r.file("keys.json")}},
		}
	} else {
		config["publicClient"] = object{"hostPort": r.address}
	}
	text, err := yaml.Marshal(config)
	require.NoError(t, err)
	return text
}
