package controller_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

// bench is a cluster coming up: kubelets and operators against a simulated kube API.
type bench struct {
	t   *testing.T
	ctx context.Context
	url string
	// touched, when set, sees every request of the controller to the kube API.
	touched func()
	kube    kubernetes.Interface
	options controller.Options
	parts   sync.WaitGroup
}

func newBench(t *testing.T, s *service) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit(t))
	server, err := kubeapi.New(kubeapi.Options{})
	require.NoError(t, err)
	b := &bench{t: t, ctx: ctx}
	handler := server.Handler()
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.touched != nil && strings.HasSuffix(r.Header.Get("Authorization"), kubeapi.UserController) {
			b.touched()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		cancel()
		b.parts.Wait()
		listener.CloseClientConnections()
		listener.Close()
		require.NoError(t, server.Close(context.Background()))
	})
	b.url = listener.URL
	b.kube, err = kubernetes.NewForConfig(kubeapi.Config(b.url, kubeapi.UserAdmin))
	require.NoError(t, err)
	logFile := filepath.Join(t.TempDir(), "controller.log")
	log, err := os.Create(logFile)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, log.Close())
		if content, err := os.ReadFile(logFile); err == nil && t.Failed() {
			t.Logf("log of the controller:\n%s", content)
		}
	})
	b.options = controller.Options{
		ClusterID: s.cluster.ID, Service: s.start(), Kube: kubeapi.Config(b.url, kubeapi.UserController),
		CheckClusterVersion: true, Interval: 100 * time.Millisecond, LogFile: logFile, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
	return b
}

// join starts the kubelet of a machine.
func (b *bench) join(name, address string, roles ...string) {
	b.parts.Go(func() {
		err := kubeapi.RunKubelet(b.ctx, b.url, kubeapi.NodeSpec{
			Name: name, Addresses: []netip.Addr{netip.MustParseAddr(address)}, Roles: roles, Poll: 20 * time.Millisecond,
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("kubelet %s: %v", name, err)
		}
	})
}

func (b *bench) rollOut(masters int) {
	b.parts.Go(func() {
		err := kubeapi.RunRollout(b.ctx, b.url, kubeapi.Rollout{
			ControlPlane: masters, Duration: 200 * time.Millisecond, Version: "4.20.1", Domain: "test.example.com",
			Poll: 20 * time.Millisecond,
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("rollout: %v", err)
		}
	})
}

var wholeFinalizing = []wire.FinalizingStage{
	"Waiting for cluster operators", "Adding router ca", "Waiting for olm operators csv initialization",
	"Applying olm manifests", "Waiting for olm operators csv", "Done",
}

func TestRunInstallsACluster(t *testing.T) {
	t.Parallel()
	s := newService(t,
		host(t, "Master-0", "192.168.1.10/24"), host(t, "master-1", "192.168.1.11/24"), host(t, "master-2", "192.168.1.12/24"),
		host(t, "worker-0", "192.168.1.20/24"), host(t, "worker-1", "192.168.1.21/24"),
	)
	s.refuse = 2
	s.cluster.Hosts[3].NodeLabels = `{"disk":"ssd"}`
	s.manifests = `[{"Name":"late.yaml","Content":"` + lateManifest + `"}]`
	b := newBench(t, s)
	b.join("master-0", "192.168.1.10", "master", "control-plane")
	b.join("master-1", "192.168.1.11", "master", "control-plane")
	b.join("master-2", "192.168.1.12", "master", "control-plane")
	b.join("worker-0", "192.168.1.20", "worker")
	b.join("worker-1", "192.168.1.21", "worker")
	b.rollOut(3)

	require.NoError(t, controller.Run(b.ctx, b.options))

	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
	for _, h := range s.cluster.Hosts {
		require.Equal(t, []wire.HostStage{"Joined", "Done"}, s.stages[h.ID], h.RequestedHostname)
	}
	require.Equal(t, wholeFinalizing, s.finalizing)
	require.Contains(t, s.ingressCA, "BEGIN CERTIFICATE")
	require.Equal(t, 1, s.completed)
	for _, o := range s.cluster.MonitoredOperators {
		require.Equal(t, "4.20.1", o.Version, o.Name)
	}
	require.Equal(t, []wire.LogsState{"requested", "completed"}, s.logsStates)
	require.Contains(t, tartest.FilesGzip(t, s.logs[0]), "assisted-installer-controller.log")
	require.Contains(t, tartest.FilesGzip(t, s.logs[0]), "cluster/nodes.json")

	node, err := b.kube.CoreV1().Nodes().Get(b.ctx, "worker-0", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "ssd", node.Labels["disk"])
	late, err := b.kube.CoreV1().ConfigMaps("default").Get(b.ctx, "late", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"from": "the user"}, late.Data)
	event, err := b.kube.CoreV1().Events("assisted-installer").Get(b.ctx, controller.ReadyEvent, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, controller.ReadyEvent, event.Reason)
}

func TestRunInstallsASingleNode(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"))
	b := newBench(t, s)
	b.join("sno", "192.168.1.10", "master", "worker")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
	require.Equal(t, wholeFinalizing, s.finalizing)
}

// lateManifest is base64 of two documents: a ConfigMap without a namespace, and nothing.
const lateManifest = "YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnTWFwCm1ldGFkYXRhOgogIG5hbWU6IGxhdGUKZGF0YToKICBmcm9tOiB0aGUgdXNlcgotLS0KCg=="
