package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"slipway/internal/platform/engine"
	"slipway/internal/platform/frontend"
	"slipway/internal/testing/await"
)

// dial connects to a server that is prepared by the test.
func dial(t *testing.T, server *engine.Temporal, more ...grpc.DialOption) client.Client {
	t.Helper()
	options := bundled(t, server).Options
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, more...)
	c, err := client.DialContext(await.Context(t), options)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// retention asks the server for the retention of a namespace, in hours.
func retention(t *testing.T, c client.Client, namespace string) float64 {
	t.Helper()
	found, err := c.WorkflowService().DescribeNamespace(await.Context(t), &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	require.NoError(t, err)
	return found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration().Hours()
}

func hours(n int) *time.Duration {
	d := time.Duration(n) * time.Hour
	return &d
}

func TestRetentionOfTheBundledServerFollowsTheSetting(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	for _, start := range []struct {
		setting *time.Duration
		want    float64
	}{{nil, 720}, {hours(24), 24}, {hours(2400), 2400}, {nil, 720}} {
		server := startTemporal(t, postgres.URL())
		c := dial(t, server)
		require.NoError(t, frontend.PrepareNamespace(await.Context(t), c, frontend.NamespaceOptions{
			Namespace: "slipway", Retention: start.setting, Logger: postgrestest.Logger(t, slog.LevelWarn),
		}))
		require.Equal(t, start.want, retention(t, c, "slipway"))
		c.Close()
		stopTemporal(t, server)
	}
}

// readOnly refuses changes of namespaces as the server's authorizer does (errUnauthorized in
// common/authorization/interceptor.go).
func readOnly(
	ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if method == "/temporal.api.workflowservice.v1.WorkflowService/UpdateNamespace" {
		return serviceerror.ToStatus(serviceerror.NewPermissionDenied("Request unauthorized.", "")).Err()
	}
	return invoke(ctx, method, request, reply, cc, options...)
}

func TestRetentionOfAnExternalServerIsThatOfItsOperator(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	c := dial(t, server)
	var log bytes.Buffer
	prepare := func(c client.Client, namespace string, setting *time.Duration) {
		t.Helper()
		log.Reset()
		require.NoError(t, frontend.PrepareNamespace(await.Context(t), c, frontend.NamespaceOptions{
			Namespace: namespace, External: true, Retention: setting, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}))
	}
	prepare(c, "made-without", nil)
	require.EqualValues(t, 720, retention(t, c, "made-without"))
	prepare(c, "made-with", hours(48))
	require.EqualValues(t, 48, retention(t, c, "made-with"))
	prepare(c, "made-with", nil)
	require.EqualValues(t, 48, retention(t, c, "made-with"), "without the setting a namespace keeps its own")

	refused := dial(t, server, grpc.WithChainUnaryInterceptor(readOnly))
	prepare(refused, "made-with", hours(72))
	require.EqualValues(t, 48, retention(t, c, "made-with"))
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "temporal operator namespace update --retention 3d --namespace made-with")
	prepare(refused, "made-with", hours(48))
	require.NotContains(t, log.String(), "level=WARN", "nothing is to change")

	prepare(c, "made-with", hours(72))
	require.EqualValues(t, 72, retention(t, c, "made-with"), "given explicitly")
}
