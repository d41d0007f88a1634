package helm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
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
	"slipway/test/bench/payload/kube"
	"slipway/test/built"
)

// cluster is etcd, kube-apiserver and kube-controller-manager of the bench, without a node.
type cluster struct {
	config     *rest.Config
	kubeconfig string
	client     kubernetes.Interface
	warnings   *warnings
}

// warnings keeps what the API server warns of.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// take returns the warnings since the last call.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// controllers make pods of Deployments and Jobs, and the account that pods name.
const controllers = "deployment-controller,replicaset-controller,job-controller,serviceaccount-controller,namespace-controller," +
	"garbage-collector-controller,disruption-controller"

// startCluster runs the programs of the bench's archive. The test is skipped where the archive is not built.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	archive, err := coreos.FindKube(coreos.Dir(cache), coreos.KubeOptions{Source: "../bench/kube"})
	if err != nil {
		t.Skip("SKIP: the programs of a cluster are not built (go run ./test/bench/coreos/buildkube test/bench/kube, which compiles Kubernetes)")
	}
	dir := built.Folder(t, "kube")
	out, err := exec.Command("tar", "--zstd", "-x", "-C", dir, "-f", archive).CombinedOutput()
	require.NoError(t, err, "%s", out)
	keys := pki.Keys(filepath.Join(dir, "pki"))
	require.NoError(t, os.Mkdir(string(keys), 0o700))
	authority, err := pki.Authority("chart", time.Now())
	require.NoError(t, err)
	require.NoError(t, keys.Store("ca", authority))
	require.NoError(t, keys.Issue(authority, "apiserver", pki.Subject{Name: "kube-apiserver", Hosts: []string{"127.0.0.1"}}, time.Now()))
	require.NoError(t, keys.Issue(authority, "admin", pki.Subject{Name: "admin", Groups: []string{"system:masters"}}, time.Now()))

	port := built.FreePorts(t, 3)
	at := func(n int) string { return "127.0.0.1:" + strconv.Itoa(port+n) }
	c := &cluster{kubeconfig: filepath.Join(dir, "kubeconfig"), warnings: &warnings{}}
	admin, err := keys.Load("admin")
	require.NoError(t, err)
	access, err := pki.Access{
		Cluster: "chart", User: "admin", Server: "https://" + at(2), Authority: authority.Cert, Client: admin,
	}.Kubeconfig()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.kubeconfig, access, 0o600))
	c.config, err = clientcmd.RESTConfigFromKubeConfig(access)
	require.NoError(t, err)
	c.config.QPS, c.config.WarningHandler = -1, c.warnings
	c.client, err = kubernetes.NewForConfig(c.config)
	require.NoError(t, err)

	program := func(name string, args ...string) {
		command := exec.Command(filepath.Join(dir, "bin", name), args...) //nolint:gosec // the bench's own programs
		command.Dir = dir
		run(t, name, filepath.Join(dir, name+".log"), command)
	}
	program("etcd", "--name=chart", "--data-dir=etcd", "--listen-client-urls=http://"+at(0), "--advertise-client-urls=http://"+at(0),
		"--listen-peer-urls=http://"+at(1), "--initial-advertise-peer-urls=http://"+at(1), "--initial-cluster=chart=http://"+at(1),
		"--unsafe-no-fsync", "--log-level=warn")
	program("kube-apiserver", "--etcd-servers=http://"+at(0), "--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port+2),
		"--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", // neither is used without a node
		"--tls-cert-file="+keys.Cert("apiserver"), "--tls-private-key-file="+keys.Key("apiserver"), "--client-ca-file="+keys.Cert("ca"),
		"--service-cluster-ip-range=172.30.0.0/16", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keys.Key("ca"), "--service-account-signing-key-file="+keys.Key("ca"), "--authorization-mode=RBAC")
	await.True(t, func() bool {
		return c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error() == nil
	}, "the API server is not ready")
	program("kube-controller-manager", "--kubeconfig="+c.kubeconfig, "--authentication-skip-lookup=true", "--bind-address=127.0.0.1",
		"--secure-port=0", "--leader-elect=false", "--controllers="+controllers, "--service-account-private-key-file="+keys.Key("ca"))
	return c
}

// namespace makes a namespace that enforces pod security restricted, and warns of templates that do not have it.
func (c *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	object := kube.Object("v1", "Namespace", "", name, nil)
	object.SetLabels(map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted",
	})
	c.apply(t, "", object)
}

// mapper returns the resources that the server has now.
func (c *cluster) mapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	return restmapper.NewDiscoveryRESTMapper(groups)
}

// apply applies objects on the server, which refuses fields that it does not know.
func (c *cluster) apply(t *testing.T, namespace string, objects ...*unstructured.Unstructured) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	require.NoError(t, err)
	mapper := c.mapper(t)
	for _, object := range objects {
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		require.NoError(t, err)
		var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			resource = client.Resource(mapping.Resource).Namespace(namespace)
		}
		text, err := object.MarshalJSON()
		require.NoError(t, err)
		_, err = resource.Patch(t.Context(), object.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
			FieldManager: "chart", FieldValidation: metav1.FieldValidationStrict,
		})
		require.NoError(t, err, "%s/%s", kind.Kind, object.GetName())
	}
}

// The API server takes what the chart renders: strictly, and without a warning. Kinds of operators are defined as kinds that take
// everything.
func TestAPIServerAcceptsTheManifests(t *testing.T) {
	t.Parallel()
	tool(t, "HELM")
	c := startCluster(t)
	var all []*unstructured.Unstructured
	for _, name := range cases {
		for _, object := range of(t, name) {
			inNamespace := object.DeepCopy()
			inNamespace.SetNamespace(namespace) // definitions are made for namespaces then
			all = append(all, inNamespace)
		}
	}
	mapper := c.mapper(t)
	definitions := kube.Definitions(all, func(o *unstructured.Unstructured) bool {
		_, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		return err == nil
	})
	require.Len(t, definitions, 4, "Certificate, Route, PrometheusRule and ServiceMonitor")
	c.apply(t, "", definitions...)
	await.True(t, func() bool { return c.knows(t, all) }, "the definitions are not served")
	for _, name := range cases {
		c.namespace(t, "case-"+name)
		c.warnings.take()
		c.apply(t, "case-"+name, of(t, name)...)
		require.Empty(t, c.warnings.take(), name)
	}
}

// knows reports whether the server has the kinds of all objects.
func (c *cluster) knows(t *testing.T, objects []*unstructured.Unstructured) bool {
	t.Helper()
	mapper := c.mapper(t)
	for _, object := range objects {
		if _, err := mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version); err != nil {
			return false
		}
	}
	return true
}
