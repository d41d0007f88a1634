package kube_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/test/bench/payload/kube"
)

const documents = `apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: one}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: b, namespace: two}
---
apiVersion: v1
kind: List
items:
- {apiVersion: operators.coreos.com/v1, kind: Policy, metadata: {name: c}}
- {apiVersion: v1, kind: Namespace, metadata: {name: two}}
---
`

func TestObjectsNobodyDefinedGetDefinitions(t *testing.T) {
	t.Parallel()
	objects, err := kube.Objects([]byte(documents))
	require.NoError(t, err)
	require.Len(t, objects, 4)
	missing := kube.MissingNamespaces(objects)
	require.Len(t, missing, 1)
	require.Equal(t, "one", missing[0].GetName())

	little := func(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" }
	definitions := kube.Definitions(objects, little)
	require.Len(t, definitions, 2)
	require.Equal(t, "baremetalhosts.metal3.io", definitions[0].GetName())
	scope, _, _ := unstructured.NestedString(definitions[0].Object, "spec", "scope")
	require.Equal(t, "Namespaced", scope)
	require.Equal(t, "policies.operators.coreos.com", definitions[1].GetName())
	require.Empty(t, kube.Definitions(append(objects, definitions...), little), "what is among the objects is not made again")
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Proxy": "proxies", "Ingress": "ingresses", "DNS": "dnses", "Gateway": "gateways", "Node": "nodes", "Switch": "switches",
	} {
		require.Equal(t, want, kube.Plural(kind))
	}
}
