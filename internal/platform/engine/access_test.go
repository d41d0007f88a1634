package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"slipway/internal/platform/frontend"
	"slipway/internal/testing/await"
)

// Other users of the machine reach its loopback ports, and read none of the service's files.
func TestTemporalTakesNoCallsOfOtherUsers(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	c, w := startWorker(t, server)
	defer func() { w.Stop(); c.Close() }()

	folder, err := os.Stat(server.Certificates())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	for _, name := range []string{"ca.pem", "client.pem", "client.key", "server.pem", "server.key"} {
		file, err := os.Stat(filepath.Join(server.Certificates(), name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), file.Mode().Perm(), name)
	}

	host, port, err := net.SplitHostPort(server.Address())
	require.NoError(t, err)
	first, err := strconv.Atoi(port)
	require.NoError(t, err)
	stranger := strangerCertificate(t)
	ports := server.Ports()
	require.Len(t, ports, 4)
	require.Contains(t, ports, first)
	for name, transport := range map[string]credentials.TransportCredentials{
		"without TLS":           insecure.NewCredentials(),
		"without a certificate": credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}),
		"with one of their own": credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{stranger}}),
	} {
		for _, port := range ports {
			address := net.JoinHostPort(host, strconv.Itoa(port))
			connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport))
			require.NoError(t, err)
			for _, method := range []string{
				"/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution",
				"/temporal.server.api.historyservice.v1.HistoryService/StartWorkflowExecution",
				"/temporal.server.api.matchingservice.v1.MatchingService/AddWorkflowTask",
				"/grpc.health.v1.Health/Check",
			} {
				ctx, cancel := context.WithTimeout(await.Context(t), 10*time.Second)
				var answer workflowservice.StartWorkflowExecutionResponse
				err := connection.Invoke(ctx, method, &workflowservice.StartWorkflowExecutionRequest{}, &answer)
				cancel()
				require.Error(t, err)
				require.Contains(t, err.Error(), "code = Unavailable", "%s: %s at %s", name, method, address)
			}
			require.NoError(t, connection.Close())
		}
	}
	signalAndGet(t, c, startWorkflow(t, c, "ours"))
}

// strangerCertificate makes a certificate with the server's subject, signed by an authority of its own.
func strangerCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "slipway"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Temporal's own tools read the file.
func TestTemporalIsReachedByItsConfigFile(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	c, w := startWorker(t, server)
	defer func() { w.Stop(); c.Close() }()
	file := filepath.Join(server.Certificates(), "temporal.toml")
	require.NoError(t, bundled(t, server).WriteConfig(file, "http://127.0.0.1:8090/temporal-codec", "a token"))

	connection, found, err := frontend.External(environment{"TEMPORAL_ADDRESS": server.Address(), "TEMPORAL_CONFIG_FILE": file})
	require.NoError(t, err)
	require.True(t, found)
	tool, err := client.DialContext(await.Context(t), connection.Options)
	require.NoError(t, err)
	defer tool.Close()
	require.NoError(t, tool.SignalWorkflow(await.Context(t), startWorkflow(t, c, "open").GetID(), "", "go", "on"))
}

// environment replaces the environment of this process.
type environment map[string]string

func (e environment) Environ() []string { return nil }

func (e environment) LookupEnv(name string) (string, bool) { v, found := e[name]; return v, found }
