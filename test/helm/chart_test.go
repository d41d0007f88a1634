package helm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	chart     = "../../deploy/helm/slipway"
	namespace = "assisted"
	// kubeVersion is the version that templates are rendered for: the bench's.
	kubeVersion = "1.36.3"
)

// cases are the files of values in the chart's folder ci.
var cases = []string{"smallest", "trial", "large", "openshift", "no-images"}

// manifests are the objects that the chart renders.
type manifests []*unstructured.Unstructured

// tool returns a program that make prepares. The test is skipped without it.
func tool(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if _, err := os.Stat(path); path == "" || err != nil {
		t.Skip("SKIP: this test needs " + variable + " (make test-helm)")
	}
	return path
}

// rendered holds the manifests of each case: helm takes seconds.
var rendered sync.Map

// of renders the chart with the values of a case.
func of(t *testing.T, name string) manifests {
	t.Helper()
	once, _ := rendered.LoadOrStore(name, sync.OnceValues(func() (manifests, error) {
		return render(context.Background(), os.Getenv("HELM"), filepath.Join(chart, "ci", name+"-values.yaml"))
	}))
	tool(t, "HELM")
	objects, err := once.(func() (manifests, error))()
	require.NoError(t, err)
	return objects
}

// render renders the chart with a file of values, and more arguments of helm.
func render(ctx context.Context, helm, values string, args ...string) (manifests, error) {
	command := exec.CommandContext(ctx, helm, append([]string{ //nolint:gosec // the test's own command
		"template", "lab", chart, "--namespace", namespace, "--kube-version", kubeVersion, "--values", values,
	}, args...)...)
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		return nil, errors.New(complaints.String())
	}
	var all manifests
	for documents := utilyaml.NewYAMLReader(bufferedReader(out.Bytes())); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}

// names lists the objects as kind/name, in order.
func (m manifests) names() (all []string) {
	for _, object := range m {
		all = append(all, object.GetKind()+"/"+object.GetName())
	}
	slices.Sort(all)
	return all
}

// read decodes an object into its type. A field that the type lacks fails the test.
func read[T any](t *testing.T, m manifests, kind, name string) T {
	t.Helper()
	var typed T
	for _, object := range m {
		if object.GetKind() != kind || object.GetName() != name {
			continue
		}
		text, err := yaml.Marshal(object.Object)
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(text, &typed), "%s/%s", kind, name)
		return typed
	}
	require.Failf(t, "not rendered", "%s/%s", kind, name)
	return typed
}

// TestObjectsOfEachCase names what is rendered.
func TestObjectsOfEachCase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"smallest": `ConfigMap/lab-slipway-settings Deployment/lab-slipway-api Deployment/lab-slipway-images Deployment/lab-slipway-worker
			Job/lab-slipway-migrate NetworkPolicy/lab-slipway-api NetworkPolicy/lab-slipway-images NetworkPolicy/lab-slipway-worker
			PersistentVolumeClaim/lab-slipway-images PodDisruptionBudget/lab-slipway-api PodDisruptionBudget/lab-slipway-worker
			Secret/lab-slipway-keys Service/lab-slipway-api Service/lab-slipway-images Service/lab-slipway-worker
			ServiceAccount/lab-slipway`,
		"trial": `ConfigMap/lab-slipway-settings Deployment/lab-slipway-api Deployment/lab-slipway-images Deployment/lab-slipway-worker
			Job/lab-slipway-migrate NetworkPolicy/lab-slipway-api NetworkPolicy/lab-slipway-images NetworkPolicy/lab-slipway-worker
			Secret/lab-slipway-credentials Secret/lab-slipway-keys Secret/lab-slipway-migrate Secret/lab-slipway-tls
			Service/lab-slipway-api Service/lab-slipway-images Service/lab-slipway-worker ServiceAccount/lab-slipway`,
		"large": `Certificate/assisted-tls ClusterRole/assisted-kube ClusterRoleBinding/assisted-kube ConfigMap/assisted-dashboard-slipway
			ConfigMap/assisted-settings Deployment/assisted-api Deployment/assisted-images Deployment/assisted-kube
			Deployment/assisted-worker HorizontalPodAutoscaler/assisted-api
			HorizontalPodAutoscaler/assisted-images HorizontalPodAutoscaler/assisted-worker Ingress/assisted Job/assisted-migrate
			NetworkPolicy/assisted-api NetworkPolicy/assisted-images NetworkPolicy/assisted-worker PersistentVolumeClaim/assisted-images
			PodDisruptionBudget/assisted-api PodDisruptionBudget/assisted-images PodDisruptionBudget/assisted-kube
			PodDisruptionBudget/assisted-worker PrometheusRule/assisted Role/assisted-kube RoleBinding/assisted-kube
			Service/assisted-api Service/assisted-images Service/assisted-kube Service/assisted-worker ServiceAccount/assisted
			ServiceAccount/assisted-kube ServiceMonitor/assisted-api ServiceMonitor/assisted-images ServiceMonitor/assisted-kube
			ServiceMonitor/assisted-worker`,
		"openshift": `ConfigMap/lab-slipway-settings Deployment/lab-slipway-api Deployment/lab-slipway-images Deployment/lab-slipway-worker
			Job/lab-slipway-migrate NetworkPolicy/lab-slipway-api NetworkPolicy/lab-slipway-images NetworkPolicy/lab-slipway-worker
			PersistentVolumeClaim/lab-slipway-images PodDisruptionBudget/lab-slipway-api PodDisruptionBudget/lab-slipway-worker
			PrometheusRule/lab-slipway Route/lab-slipway-api Route/lab-slipway-boot-artifacts Route/lab-slipway-byapikey
			Route/lab-slipway-byid Route/lab-slipway-bytoken Route/lab-slipway-images Secret/lab-slipway-keys
			Service/lab-slipway-api Service/lab-slipway-images Service/lab-slipway-worker ServiceAccount/lab-slipway
			ServiceMonitor/lab-slipway-api ServiceMonitor/lab-slipway-images ServiceMonitor/lab-slipway-worker`,
		"no-images": `ConfigMap/lab-slipway-settings Deployment/lab-slipway-api Deployment/lab-slipway-worker Ingress/lab-slipway
			PodDisruptionBudget/lab-slipway-api PodDisruptionBudget/lab-slipway-worker Secret/lab-slipway-keys
			Service/lab-slipway-api Service/lab-slipway-worker`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, strings.Fields(want), of(t, name).names())
		})
	}
}

// Each file of the folder is a case.
func TestEveryFileOfValuesIsACase(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob(filepath.Join(chart, "ci", "*"))
	require.NoError(t, err)
	var named []string
	for _, name := range cases {
		named = append(named, filepath.Join(chart, "ci", name+"-values.yaml"))
	}
	require.ElementsMatch(t, found, named)
}

// Values that cannot work are refused with a sentence.
func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	helm := tool(t, "HELM")
	for _, c := range []struct{ set, want string }{
		{"baseUrl=https://a.example.com", "additional properties 'baseUrl' not allowed"},
		{"baseURL=http://slipway.example.com", "baseURL: require https:// unless tls.mode is none"},
		{"images.baseURL=", "images.baseURL: require the address"},
		{"images.replicas=2", "images.storage.accessMode: require ReadWriteMany for several pods"},
		{"tls.mode=certManager", "tls.certManager.issuerRef.name: require the issuer"},
		{"database.existingSecret=", "database: require existingSecret"},
		{"blobs.url=", "blobs.url: require an object store"},
		{"config.listen=:1", "config: listen is set by other values of the chart"},
		{"kube.enabled=true", "kube.token.existingSecret: require the Secret with a token of the role kube"},
		{"temporal.tls.enabled=true", "temporal.tls.existingSecret: require the Secret"},
	} {
		t.Run(c.set, func(t *testing.T) {
			t.Parallel()
			_, err := render(t.Context(), helm, filepath.Join(chart, "ci", "smallest-values.yaml"), "--set", c.set)
			require.ErrorContains(t, err, c.want)
		})
	}
}
