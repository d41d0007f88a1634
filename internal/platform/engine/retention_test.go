package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

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

// without refuses methods as the server's authorizer does (errUnauthorized in common/authorization/interceptor.go).
func without(methods ...string) grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(
		ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		if slices.Contains(methods, path.Base(method)) {
			return serviceerror.ToStatus(serviceerror.NewPermissionDenied("Request unauthorized.", "")).Err()
		}
		return invoke(ctx, method, request, reply, cc, options...)
	})
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

	refused := dial(t, server, without("UpdateNamespace"))
	prepare(refused, "made-with", hours(72))
	require.EqualValues(t, 48, retention(t, c, "made-with"))
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "temporal operator namespace update --retention 3d --namespace made-with")
	prepare(refused, "made-with", hours(48))
	require.NotContains(t, log.String(), "level=WARN", "nothing is to change")

	prepare(c, "made-with", hours(72))
	require.EqualValues(t, 72, retention(t, c, "made-with"), "given explicitly")
}

// Credentials of an external server may lack rights: what is there is used, and what is missing is required of its operator.
func TestCredentialsWithFewRights(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	prepare := func(c client.Client, namespace string) error {
		return frontend.PrepareNamespace(await.Context(t), c, frontend.NamespaceOptions{
			Namespace: namespace, External: true, Logger: postgrestest.Logger(t, slog.LevelWarn),
		})
	}
	administrator := dial(t, server)
	writer := dial(t, server, without("RegisterNamespace", "UpdateNamespace", "AddSearchAttributes"))
	reader := dial(t, server,
		without("RegisterNamespace", "UpdateNamespace", "DescribeNamespace", "AddSearchAttributes", "ListSearchAttributes"))
	stranger := dial(t, server, without("RegisterNamespace", "DescribeNamespace", "ListSearchAttributes", "CountWorkflowExecutions"))

	err := prepare(writer, "site")
	require.ErrorContains(t, err, "namespace site: namespace: the namespace is missing, and these credentials may not create it")
	require.ErrorContains(t, err, `require "temporal operator namespace create --retention 30d --namespace site" by an operator of Temporal`)

	_, err = administrator.WorkflowService().RegisterNamespace(await.Context(t), &workflowservice.RegisterNamespaceRequest{
		Namespace: "site", WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		err = prepare(writer, "site")
		return err == nil || !strings.Contains(err.Error(), "namespace is missing")
	}, await.Limit(t), 100*time.Millisecond)
	require.ErrorContains(t, err, "search attributes are missing, and these credentials may not create them")
	require.ErrorContains(t, err, `"temporal operator search-attribute create --namespace site --name ClusterID --type Keyword --name ClusterName`)

	require.NoError(t, prepare(administrator, "site"))
	require.NoError(t, prepare(writer, "site"))
	require.NoError(t, prepare(reader, "site"), "what may not be looked at is assumed to exist, where queries find it")
	require.ErrorContains(t, prepare(stranger, "site"), "these credentials may not read workflows")
}
