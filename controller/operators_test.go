package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"slipway/controller"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/wire"
)

const olm = "operators.coreos.com/v1alpha1"

// put stores an object and its status.
func (b *bench) put(resource string, obj map[string]any) {
	b.t.Helper()
	client, err := dynamic.NewForConfig(kubeapi.Config(b.url, kubeapi.UserAdmin))
	require.NoError(b.t, err)
	u := &unstructured.Unstructured{Object: obj}
	gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
	require.NoError(b.t, err)
	var objects dynamic.ResourceInterface = client.Resource(gv.WithResource(resource))
	if u.GetNamespace() != "" {
		objects = client.Resource(gv.WithResource(resource)).Namespace(u.GetNamespace())
	}
	created, err := objects.Create(b.ctx, u, metav1.CreateOptions{})
	require.NoError(b.t, err)
	if status, ok := obj["status"]; ok {
		created.Object["status"] = status
		_, err = objects.UpdateStatus(b.ctx, created, metav1.UpdateOptions{})
		require.NoError(b.t, err)
	}
}

func named(namespace, name string) map[string]any {
	return map[string]any{"namespace": namespace, "name": name}
}

func TestRunReportsOLMOperators(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"))
	for _, name := range []string{"odf", "lso"} {
		s.cluster.MonitoredOperators = append(s.cluster.MonitoredOperators, wire.MonitoredOperator{
			Name: name, OperatorType: wire.Olm, Namespace: "openshift-" + name, SubscriptionName: name + "-operator",
		})
	}
	b := newBench(t, s)
	for name, status := range map[string]map[string]any{
		"odf": {"phase": "Succeeded", "message": "install strategy completed"},
		"lso": {"phase": "Failed", "message": "no storage", "lastTransitionTime": "2020-01-01T00:00:00Z"},
	} {
		b.put("subscriptions", map[string]any{
			"apiVersion": olm, "kind": "Subscription", "metadata": named("openshift-"+name, name+"-operator"),
			"status": map[string]any{"installedCSV": name + ".v1.2.3"},
		})
		b.put("clusterserviceversions", map[string]any{
			"apiVersion": olm, "kind": "ClusterServiceVersion", "metadata": named("openshift-"+name, name+".v1.2.3"),
			"spec": map[string]any{"version": "1.2.3"}, "status": status,
		})
	}
	b.join("sno", "192.168.1.10", "master")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))

	odf, lso := s.cluster.MonitoredOperators[2], s.cluster.MonitoredOperators[3]
	require.Equal(
		t,
		[]any{wire.OperatorStatusAvailable, "install strategy completed", "1.2.3"},
		[]any{odf.Status, odf.StatusInfo, odf.Version},
	)
	require.Equal(t, []any{wire.OperatorStatusFailed, "no storage", "1.2.3"}, []any{lso.Status, lso.StatusInfo, lso.Version})
}

func TestRunCountsADisabledConsoleAsAvailable(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"))
	s.cluster.Hosts[0].Status, s.cluster.Hosts[0].Progress.CurrentStage = "installed", "Done"
	b := newBench(t, s)
	b.put("clusterversions", map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": map[string]any{"name": "version"},
		"status": map[string]any{
			"capabilities": map[string]any{"enabledCapabilities": []any{"Ingress"}},
			"desired":      map[string]any{"version": "4.20.1"},
			"conditions":   []any{map[string]any{"type": "Available", "status": "True", "message": "Done applying 4.20.1"}},
		},
	})
	b.put("configmaps", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": named("openshift-config-managed", "default-ingress-cert"),
		"data": map[string]any{"ca-bundle.crt": "pem"},
	})
	require.NoError(t, controller.Run(b.ctx, b.options))
	require.Equal(t, "the Console capability is not enabled", s.cluster.MonitoredOperators[1].StatusInfo)
	require.Equal(t, "pem", s.ingressCA)
}
