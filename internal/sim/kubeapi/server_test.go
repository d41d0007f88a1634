package kubeapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

// start runs a server until the test ends.
func start(t *testing.T, o kubeapi.Options) (*kubeapi.Server, string) {
	t.Helper()
	server, err := kubeapi.New(o)
	require.NoError(t, err)
	url, err := server.Start("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close(context.Background())) })
	return server, url
}

func clientOf(t *testing.T, url, user string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(kubeapi.Config(url, user))
	require.NoError(t, err)
	return client
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": value}}
}

func TestObjectsAreCreatedReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, maps := await.Context(t), clientOf(t, url, kubeapi.UserAdmin).CoreV1().ConfigMaps("one")

	created, err := maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, created.UID)
	require.Equal(t, "one", created.Namespace)
	_, err = maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	require.True(t, apierrors.IsAlreadyExists(err), err)

	changed := created.DeepCopy()
	changed.Data["key"] = "2"
	changed, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, created.UID, changed.UID)
	_, err = maps.Update(ctx, created, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), err)

	for _, only := range []*metav1.Preconditions{
		{UID: new(types.UID("another"))}, {UID: &changed.UID, ResourceVersion: &created.ResourceVersion},
	} {
		require.True(t, apierrors.IsConflict(maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: only})))
	}
	only := &metav1.Preconditions{UID: &changed.UID, ResourceVersion: &changed.ResourceVersion}
	require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: only}))
	_, err = maps.Get(ctx, "a", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	require.True(t, apierrors.IsNotFound(maps.Delete(ctx, "a", metav1.DeleteOptions{})))
}

func TestListsAreSelected(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	for _, namespace := range []string{"one", "two"} {
		labelled := configMap("a", namespace)
		labelled.Labels = map[string]string{"in": namespace}
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, labelled, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for name, tc := range map[string]struct {
		namespace string
		options   metav1.ListOptions
		want      []string
	}{
		"all namespaces": {want: []string{"one", "two"}},
		"one namespace":  {namespace: "two", want: []string{"two"}},
		"by label":       {options: metav1.ListOptions{LabelSelector: "in=one"}, want: []string{"one"}},
		"by field":       {options: metav1.ListOptions{FieldSelector: "metadata.namespace=two"}, want: []string{"two"}},
		"by both":        {options: metav1.ListOptions{LabelSelector: "in=one", FieldSelector: "metadata.namespace=two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := client.CoreV1().ConfigMaps(tc.namespace).List(ctx, tc.options)
			require.NoError(t, err)
			var found []string
			for _, m := range list.Items {
				found = append(found, m.Namespace)
			}
			require.Equal(t, tc.want, found)
		})
	}
}

func TestStatusIsWrittenOnItsOwn(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, nodes := await.Context(t), clientOf(t, url, kubeapi.UserAdmin).CoreV1().Nodes()
	ready := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: ready}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, node.Status.Conditions, "a new node has no status")

	node.Status, node.Labels = ready, map[string]string{"a": "b"}
	node, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Len(t, node.Status.Conditions, 1)
	require.Empty(t, node.Labels)

	node, err = nodes.Patch(ctx, "n", types.StrategicMergePatchType,
		[]byte(`{"metadata":{"labels":{"a":"b"}},"status":{"conditions":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Len(t, node.Status.Conditions, 1)
	require.Equal(t, map[string]string{"a": "b"}, node.Labels)
	node, err = nodes.Patch(ctx, "n", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":null}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Empty(t, node.Labels)
}

func TestApplyCreatesAndThenMerges(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	client, err := dynamic.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	routes := client.Resource(schema.GroupVersionResource{Group: "route.openshift.io", Version: "v1", Resource: "routes"}).Namespace("one")
	for _, host := range []string{"a.example.com", "b.example.com"} {
		obj, err := routes.Apply(await.Context(t), "r", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": map[string]any{"name": "r"},
			"spec": map[string]any{"host": host},
		}}, metav1.ApplyOptions{FieldManager: "test", Force: true})
		require.NoError(t, err)
		got, _, err := unstructured.NestedString(obj.Object, "spec", "host")
		require.NoError(t, err)
		require.Equal(t, host, got)
	}
}

func TestWatchSeesWhatIsAndWhatChanges(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	maps := client.CoreV1().ConfigMaps("one")
	first, err := maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)

	all, err := maps.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer all.Stop()
	after, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion, FieldSelector: "metadata.name=b"})
	require.NoError(t, err)
	defer after.Stop()

	_, err = maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"key":"2"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().ConfigMaps("two").Create(ctx, configMap("b", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(ctx, configMap("b", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))

	for _, want := range []struct {
		kind watch.EventType
		name string
	}{{watch.Added, "a"}, {watch.Modified, "a"}, {watch.Added, "b"}, {watch.Deleted, "a"}} {
		event := <-all.ResultChan()
		require.Equal(t, want.kind, event.Type)
		require.Equal(t, want.name, event.Object.(*corev1.ConfigMap).Name)
	}
	event := <-after.ResultChan()
	require.Equal(t, watch.Added, event.Type)
	require.Equal(t, "b", event.Object.(*corev1.ConfigMap).Name)
}

func TestWatchOfAForgottenVersionFails(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	for range 5000 {
		_, err := client.CoreV1().
			Events("one").
			Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{GenerateName: "e"}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			require.NoError(t, err)
		}
	}
	stream, err := client.CoreV1().Events("one").Watch(ctx, metav1.ListOptions{ResourceVersion: "2"})
	require.NoError(t, err)
	defer stream.Stop()
	event := <-stream.ResultChan()
	require.Equal(t, watch.Error, event.Type)
	require.True(t, apierrors.IsResourceExpired(apierrors.FromObject(event.Object)))
}

func TestKubeconfigAndDiscoveryWork(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	file, err := kubeapi.Kubeconfig(url, kubeapi.UserController)
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	found := map[string]bool{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion+" "+r.Name] = true
		}
	}
	require.Subset(t, found, map[string]bool{"v1 nodes": true, "config.openshift.io/v1 clusteroperators": true})
	_, err = client.Discovery().ServerVersion()
	require.NoError(t, err)
}

func TestUnknownPathsAndKindsAreRefused(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	for path, code := range map[string]int{
		"/readyz": http.StatusOK, "/api/v1/unicorns": http.StatusNotFound, "/elsewhere": http.StatusNotFound,
		"/apis/example.com/v1/things": http.StatusNotFound, "/api/v1/nodes?labelSelector=%3D%3D": http.StatusBadRequest,
		"/api/v1/namespaces/one/nodes/n": http.StatusNotFound, "/api/v1/nodes/n/scale/more": http.StatusNotFound,
	} {
		request, err := http.NewRequestWithContext(await.Context(t), http.MethodGet, url+path, http.NoBody)
		require.NoError(t, err)
		response, err := httpclient.New(t).Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, code, response.StatusCode, path)
	}
}

func TestNodeThatStopsIsMissed(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, nodes := await.Context(t), clientOf(t, url, kubeapi.UserAdmin).CoreV1().Nodes()
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "two"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	require.NoError(t, kubeapi.MissNode(ctx, url, "two", at))
	require.NoError(t, kubeapi.MissNode(ctx, url, "three", at), "it was removed before")
	node, err = nodes.Get(ctx, "two", metav1.GetOptions{})
	require.NoError(t, err)
	c := node.Status.Conditions[0]
	require.Equal(t, "Unknown NodeStatusUnknown Kubelet stopped posting node status.",
		strings.Join([]string{string(c.Status), c.Reason, c.Message}, " "))
	require.True(t, at.Equal(c.LastTransitionTime.Time))
	require.Len(t, node.Spec.Taints, 2)
}
