package kubeapi_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

// Every object that a cluster is given for its operators has a kind that is served, so that simulated installations
// can choose each of them.
func TestObjectsOfEveryOperatorAreApplied(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	config := kubeapi.Config(url, kubeapi.UserAdmin)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(found)
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	applied := 0
	for _, version := range []string{"4.16.3", "4.20.1"} {
		c := &model.Cluster{Kind: model.KindCluster, OpenShiftVersion: version, ControlPlaneCount: 3}
		c.ReleaseComponents = map[string]string{"cli": "quay.io/release/cli@sha256:1234"}
		for _, name := range operators.Names() {
			if name != "lvm" { // excluded by odf
				c.OLMOperators = append(c.OLMOperators, model.OLMOperator{Name: name})
			}
		}
		day1, late, err := operators.Manifests(c, nil)
		require.NoError(t, err)
		// One that every cluster has, and one that the operator of models makes.
		namespaces := map[string]bool{"openshift-operators": true, "redhat-ods-applications": true}
		for _, obj := range documents(t, append(day1, late...)) {
			if obj.GetKind() == "Namespace" {
				namespaces[obj.GetName()] = true
			}
			gvk := obj.GroupVersionKind()
			mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
			require.NoError(t, err)
			var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
			if mapping.Scope.Name() == "namespace" {
				require.True(t, namespaces[obj.GetNamespace()], "%s %s is in %q", obj.GetKind(), obj.GetName(), obj.GetNamespace())
				resource = client.Resource(mapping.Resource).Namespace(obj.GetNamespace())
			}
			_, err = resource.Apply(await.Context(t), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test", Force: true})
			require.NoError(t, err, "%s %s", obj.GetKind(), obj.GetName())
			applied++
		}
	}
	require.Greater(t, applied, 200)
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
