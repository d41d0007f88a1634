package kubeapi_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

// namespaces that objects may be in: one that every cluster has, one that the operator of models makes, and the namespaces of earlier
// objects.
type namespaces map[string]bool

// applyAll applies objects by the kinds that the API has now.
func (n namespaces) applyAll(t *testing.T, config *rest.Config, objects []*unstructured.Unstructured) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(found)
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, obj := range objects {
		if obj.GetKind() == "Namespace" {
			n[obj.GetName()] = true
		}
		gvk := obj.GroupVersionKind()
		mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		require.NoError(t, err)
		var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == "namespace" {
			require.True(t, n[obj.GetNamespace()], "%s %s is in %q", obj.GetKind(), obj.GetName(), obj.GetNamespace())
			resource = client.Resource(mapping.Resource).Namespace(obj.GetNamespace())
		}
		_, err = resource.Apply(await.Context(t), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test", Force: true})
		require.NoError(t, err, "%s %s", obj.GetKind(), obj.GetName())
	}
}

// Every object that a cluster is given for its operators has a kind that is served once its operator is there, so that
// simulated installations can choose each of them.
func TestObjectsOfEveryOperatorAreApplied(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"4.16.3", "4.20.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			_, url := start(t, kubeapi.Options{})
			config := kubeapi.Config(url, kubeapi.UserAdmin)
			c := &model.Cluster{Kind: model.KindCluster, OpenShiftVersion: version, ControlPlaneCount: 3}
			c.ReleaseComponents = map[string]string{"cli": "quay.io/release/cli@sha256:1234"}
			for _, name := range operators.Names() {
				if name != "lvm" { // excluded by odf
					c.OLMOperators = append(c.OLMOperators, model.OLMOperator{Name: name})
				}
			}
			day1, late, err := operators.Manifests(c, nil)
			require.NoError(t, err)
			known := namespaces{"openshift-operators": true, "redhat-ods-applications": true}
			first, second := documents(t, day1), documents(t, late)
			known.applyAll(t, config, first)
			ctx := await.Context(t)
			client, err := dynamic.NewForConfig(config)
			require.NoError(t, err)
			storage := client.Resource(schema.GroupVersionResource{Group: "ocs.openshift.io", Version: "v1", Resource: "storageclusters"})
			_, err = storage.List(ctx, metav1.ListOptions{})
			require.True(t, apierrors.IsNotFound(err), "no operator has brought the kind yet: %v", err)
			go kubeapi.RunOLM(ctx, url, 10*time.Millisecond)
			subscriptions := schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
			await.True(t, func() bool {
				list, err := client.Resource(subscriptions).List(ctx, metav1.ListOptions{})
				return err == nil && !slices.ContainsFunc(list.Items, func(s unstructured.Unstructured) bool { return s.Object["status"] == nil })
			})
			known.applyAll(t, config, second)
			require.Greater(t, len(first)+len(second), 100)
		})
	}
}

func documents(t *testing.T, files []operators.File) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, f := range files {
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(f.Content), 4096)
		for {
			obj := &unstructured.Unstructured{}
			err := decoder.Decode(&obj.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, f.Name)
			all = append(all, obj)
		}
	}
	return all
}
