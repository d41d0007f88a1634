// Package hub runs etcd and kube-apiserver of the bench for tests: a cluster without a node.
package hub

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

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
	"k8s.io/client-go/tools/clientcmd"

	"slipway/internal/sim/payload/pki"
	"slipway/internal/testing/await"
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
	bin := programs(t, dir)
	keys := pki.Keys(filepath.Join(dir, "pki"))
	require.NoError(t, os.Mkdir(string(keys), 0o700))
	authority, err := pki.Authority("hub", time.Now())
	require.NoError(t, err)
	require.NoError(t, keys.Store("ca", authority))
	require.NoError(t, keys.Issue(authority, "apiserver", pki.Subject{Name: "kube-apiserver", Hosts: []string{"127.0.0.1"}}, time.Now()))
	require.NoError(t, keys.Issue(authority, "admin", pki.Subject{Name: "admin", Groups: []string{"system:masters"}}, time.Now()))

	port := built.FreePorts(t, 3)
	at := func(n int) string { return "127.0.0.1:" + strconv.Itoa(port+n) }
	h := &Hub{Kubeconfig: filepath.Join(dir, "kubeconfig"), Warnings: &Warnings{}}
	admin, err := keys.Load("admin")
	require.NoError(t, err)
	access, err := pki.Access{
		Cluster: "hub", User: "admin", Server: "https://" + at(2), Authority: authority.Cert, Client: admin,
	}.Kubeconfig()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(h.Kubeconfig, access, 0o600))
	h.Config, err = clientcmd.RESTConfigFromKubeConfig(access)
	require.NoError(t, err)
	h.Config.QPS, h.Config.WarningHandler = -1, h.Warnings
	h.Client, err = kubernetes.NewForConfig(h.Config)
	require.NoError(t, err)

	program := func(name string, args ...string) {
		command := exec.Command(filepath.Join(bin, name), args...) //nolint:gosec // the bench's own programs
		command.Dir = dir
		Run(t, name, filepath.Join(dir, name+".log"), command)
	}
	program("etcd", "--name=hub", "--data-dir=etcd", "--listen-client-urls=http://"+at(0), "--advertise-client-urls=http://"+at(0),
		"--listen-peer-urls=http://"+at(1), "--initial-advertise-peer-urls=http://"+at(1), "--initial-cluster=hub=http://"+at(1),
		"--unsafe-no-fsync", "--log-level=warn")
	program("kube-apiserver", "--etcd-servers=http://"+at(0), "--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port+2),
		"--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", // neither is used without a node
		"--tls-cert-file="+keys.Cert("apiserver"), "--tls-private-key-file="+keys.Key("apiserver"), "--client-ca-file="+keys.Cert("ca"),
		"--service-cluster-ip-range=172.30.0.0/16", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keys.Key("ca"), "--service-account-signing-key-file="+keys.Key("ca"), "--authorization-mode=RBAC")
	await.True(t, func() bool {
		return h.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error() == nil
	}, "the API server is not ready")
	if controllers != "" {
		program("kube-controller-manager", "--kubeconfig="+h.Kubeconfig, "--authentication-skip-lookup=true", "--bind-address=127.0.0.1",
			"--secure-port=0", "--leader-elect=false", "--controllers="+controllers, "--service-account-private-key-file="+keys.Key("ca"))
	}
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
