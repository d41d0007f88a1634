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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

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
	// asked are the requests of the controller to the kube API.
	mu    sync.Mutex
	asked []kubeapi.Access
}

func (b *bench) note(a kubeapi.Access) {
	if a.User != kubeapi.UserController {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, a)
}

// refused lists the requests that the role does not grant.
func (b *bench) refused() []kubeapi.Access {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.asked), func(a kubeapi.Access) bool { return a.Allowed })
}

// grant applies the manifests by which bootstrap hosts give the controller its rights.
func (b *bench) grant() {
	b.t.Helper()
	for file, resource := range map[string]string{
		"00-namespace.yaml": "namespaces", "02-cluster-role.yaml": "clusterroles", "03-cluster-role-binding.yaml": "clusterrolebindings",
	} {
		text, err := os.ReadFile(filepath.Join("../installer/manifests", file))
		require.NoError(b.t, err)
		var object map[string]any
		require.NoError(b.t, yaml.Unmarshal(text, &object))
		b.put(resource, object)
	}
}

func newBench(t *testing.T, s *service) *bench {
	t.Helper()
	ctx, cancel := context.WithCancel(await.Context(t))
	b := &bench{t: t, ctx: ctx}
	server, err := kubeapi.New(kubeapi.Options{WatchLimit: time.Second, Audit: b.note})
	require.NoError(t, err)
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
		Admin: func(kubeconfig []byte) (*rest.Config, error) {
			if string(kubeconfig) != adminKubeconfig {
				return nil, errors.New("not the kubeconfig of the administrator")
			}
			return kubeapi.Config(b.url, kubeapi.UserAdmin), nil
		},
	}
	b.grant()
	t.Cleanup(func() { require.Empty(t, b.refused(), "the role does not grant what the controller asks for") })
	return b
}

// grantTo lets a service account of the namespace default do what a rule says.
func (b *bench) grantTo(account string, rule rbacv1.PolicyRule) {
	b.t.Helper()
	_, err := b.kube.RbacV1().ClusterRoles().Create(b.ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: []rbacv1.PolicyRule{rule},
	}, metav1.CreateOptions{})
	require.NoError(b.t, err)
	_, err = b.kube.RbacV1().ClusterRoleBindings().Create(b.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: account},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: "default"}},
	}, metav1.CreateOptions{})
	require.NoError(b.t, err)
}

// adminKubeconfig is the kubeconfig of the cluster's administrator at the service.
const adminKubeconfig = "kubeconfig of system:admin"

// join starts the kubelet of a machine.
func (b *bench) join(name, address string, roles ...string) {
	b.joinAs(kubeapi.NodeSpec{Name: name, Roles: roles}, address)
}

func (b *bench) joinAs(spec kubeapi.NodeSpec, address string) {
	spec.Addresses, spec.Poll = []netip.Addr{netip.MustParseAddr(address)}, 20*time.Millisecond
	b.parts.Go(func() {
		if err := kubeapi.RunKubelet(b.ctx, b.url, spec); err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("kubelet %s: %v", spec.Name, err)
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
	"Applying olm manifests", "Waiting for olm operators csv", "Waiting for OLM operator setup jobs", "Done",
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
