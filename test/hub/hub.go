// Package hub runs etcd and kube-apiserver of the bench for tests: a cluster without a node.
package hub

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"slipway/internal/sim/hub"
	"slipway/test/bench/coreos"
	"slipway/test/built"
)

// Hub is a cluster, with the access of its administrator.
type Hub struct {
	Config     *rest.Config
	Kubeconfig string // a file
	Client     kubernetes.Interface
	Warnings   *Warnings
}

// Warnings keeps what the API server warns of.
type Warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *Warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// Take returns the warnings since the last call.
func (w *Warnings) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// programs returns a folder with kube-apiserver and etcd: KUBE_PROGRAMS, else the bench's archive, unpacked into dir. The test is skipped
// where there is neither.
func programs(t *testing.T, dir string) string {
	t.Helper()
	if folder := os.Getenv("KUBE_PROGRAMS"); folder != "" {
		return folder
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	archive, err := coreos.FindKube(coreos.Dir(cache), coreos.KubeOptions{Source: "../bench/kube"})
	if err != nil {
		t.Skip("SKIP: the programs of a cluster are not built (go run ./test/bench/coreos/buildkube test/bench/kube, which compiles Kubernetes)")
	}
	out, err := exec.Command("tar", "--zstd", "-x", "-C", dir, "-f", archive).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "bin")
}

// Start runs a cluster until the test ends, with controllers of kube-controller-manager; empty: without it.
func Start(t *testing.T, controllers string) *Hub {
	t.Helper()
	dir := built.Folder(t, "kube")
	cluster, err := hub.Start(t.Context(), hub.Options{
		Programs: programs(t, dir), Dir: dir, Controllers: controllers, Port: built.FreePorts(t, hub.Ports),
	})
	require.NoError(t, err)
	t.Cleanup(cluster.Stop)
	h := &Hub{Config: cluster.Config, Kubeconfig: cluster.Kubeconfig, Warnings: &Warnings{}}
	h.Config.QPS, h.Config.WarningHandler = -1, h.Warnings
	h.Client, err = kubernetes.NewForConfig(h.Config)
	require.NoError(t, err)
	return h
}

// Mapper returns the resources that the server has now.
func (h *Hub) Mapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(h.Config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	return restmapper.NewDiscoveryRESTMapper(groups)
}

// Resource returns where objects of the kind of an object are, in a namespace where the kind has them.
func (h *Hub) Resource(t *testing.T, namespace string, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(h.Config)
	require.NoError(t, err)
	kind := object.GroupVersionKind()
	mapping, err := h.Mapper(t).RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return client.Resource(mapping.Resource).Namespace(namespace)
	}
	return client.Resource(mapping.Resource)
}

// Apply applies objects on the server, which refuses fields that it does not know.
func (h *Hub) Apply(t *testing.T, namespace string, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		text, err := object.MarshalJSON()
		require.NoError(t, err)
		_, err = h.Resource(t, namespace, object).Patch(t.Context(), object.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
			FieldManager: "chart", FieldValidation: metav1.FieldValidationStrict,
		})
		require.NoError(t, err, "%s/%s", object.GetKind(), object.GetName())
	}
}

// Knows reports whether the server has the kinds of all objects.
func (h *Hub) Knows(t *testing.T, objects []*unstructured.Unstructured) bool {
	t.Helper()
	mapper := h.Mapper(t)
	for _, object := range objects {
		if _, err := mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version); err != nil {
			return false
		}
	}
	return true
}

// Process is a program that a test has started.
type Process struct {
	*exec.Cmd
	Log   string // its output, a file
	Ended chan struct{}
}

// Run starts a command and ends it with the test.
func Run(t *testing.T, name, log string, command *exec.Cmd) *Process {
	t.Helper()
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, command.Start())
	p := &Process{command, log, make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.Ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
		<-p.Ended
		_ = file.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("%s: %s", name, text[max(0, len(text)-4000):])
		}
	})
	return p
}
