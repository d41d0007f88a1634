package helm_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/testing/await"
	"slipway/test/bench/payload/kube"
	"slipway/test/hub"
)

// controllers make pods of Deployments and Jobs, and the account that pods name.
const controllers = "deployment-controller,replicaset-controller,job-controller,serviceaccount-controller,namespace-controller," +
	"garbage-collector-controller,disruption-controller"

// makeNamespace makes a namespace that enforces pod security restricted, and warns of templates that do not have it.
func makeNamespace(t *testing.T, h *hub.Hub, name string) {
	t.Helper()
	object := kube.Object("v1", "Namespace", "", name, nil)
	object.SetLabels(map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted",
	})
	h.Apply(t, "", object)
}

// The API server takes what the chart renders: strictly, and without a warning. Kinds of operators are defined as kinds that take
// everything.
func TestAPIServerAcceptsTheManifests(t *testing.T) {
	t.Parallel()
	tool(t, "HELM")
	h := hub.Start(t, controllers)
	var all []*unstructured.Unstructured
	for _, name := range cases {
		for _, object := range of(t, name) {
			inNamespace := object.DeepCopy()
			inNamespace.SetNamespace(namespace) // definitions are made for namespaces then
			all = append(all, inNamespace)
		}
	}
	mapper := h.Mapper(t)
	definitions := kube.Definitions(all, func(o *unstructured.Unstructured) bool {
		_, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		return err == nil
	})
	require.Len(t, definitions, 4, "Certificate, Route, PrometheusRule and ServiceMonitor")
	h.Apply(t, "", definitions...)
	await.True(t, func() bool { return h.Knows(t, all) }, "the definitions are not served")
	for _, name := range cases {
		makeNamespace(t, h, "case-"+name)
		h.Warnings.Take()
		h.Apply(t, "case-"+name, of(t, name)...)
		require.Empty(t, h.Warnings.Take(), name)
	}
}
