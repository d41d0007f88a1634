package helm_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// The controllers have the rights of deploy/kube, with which test/kube runs them.
func TestControllersHaveTheRightsOfTheirManifests(t *testing.T) {
	t.Parallel()
	m := of(t, "large")
	content, err := os.ReadFile("../../deploy/kube/rbac.yaml")
	require.NoError(t, err)
	var wanted struct{ cluster, namespace []rbacv1.PolicyRule }
	for _, document := range strings.Split(string(content), "\n---\n") {
		var role rbacv1.Role // a ClusterRole has the same rules
		require.NoError(t, yaml.Unmarshal([]byte(document), &role))
		switch role.Kind {
		case "ClusterRole":
			wanted.cluster = role.Rules
		case "Role":
			wanted.namespace = role.Rules
		}
	}
	require.NotEmpty(t, wanted.cluster)
	require.NotEmpty(t, wanted.namespace)
	require.Equal(t, wanted.cluster, read[rbacv1.ClusterRole](t, m, "ClusterRole", "assisted-kube").Rules)
	require.Equal(t, wanted.namespace, read[rbacv1.Role](t, m, "Role", "assisted-kube").Rules)
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "assisted-kube", Namespace: namespace}}
	everywhere := read[rbacv1.ClusterRoleBinding](t, m, "ClusterRoleBinding", "assisted-kube")
	require.Equal(t, "ClusterRole assisted-kube", everywhere.RoleRef.Kind+" "+everywhere.RoleRef.Name)
	require.Equal(t, account, everywhere.Subjects)
	here := read[rbacv1.RoleBinding](t, m, "RoleBinding", "assisted-kube")
	require.Equal(t, "Role assisted-kube", here.RoleRef.Kind+" "+here.RoleRef.Name)
	require.Equal(t, account, here.Subjects)
	require.Equal(t, "assisted-kube", read[appsv1.Deployment](t, m, "Deployment", "assisted-kube").Spec.Template.Spec.ServiceAccountName)
}

// The webhook's address is a Service with a port of the pods.
func TestTheWebhookHasAService(t *testing.T) {
	t.Parallel()
	m := of(t, "large")
	c := read[appsv1.Deployment](t, m, "Deployment", "assisted-kube").Spec.Template.Spec.Containers[0]
	variables := map[string]string{}
	for _, v := range c.Env {
		variables[v.Name] = v.Value
	}
	require.Equal(t, namespace+"/assisted-kube", variables["SLIPWAY_KUBE_WEBHOOK_SERVICE"])
	require.Equal(t, ":9443", variables["SLIPWAY_KUBE_WEBHOOK_LISTEN"])
	require.Equal(t, namespace, variables["SLIPWAY_KUBE_LEASE_NAMESPACE"])
	ports := map[string]int32{}
	for _, port := range c.Ports {
		ports[port.Name] = port.ContainerPort
	}
	require.Equal(t, map[string]int32{"metrics": 8080, "probes": 8081, "webhook": 9443}, ports)
	for _, port := range read[corev1.Service](t, m, "Service", "assisted-kube").Spec.Ports {
		require.Contains(t, ports, port.TargetPort.StrVal)
	}
}
