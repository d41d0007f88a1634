package controller_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/wire"
)

const machineAPI = "openshift-machine-api"

// bareMetalHost makes one as openshift-install does (pkg/asset/machines/baremetal/hosts.go), as the service describes it.
func bareMetalHost(name, consumer string) map[string]any {
	annotations := map[string]any{
		"baremetalhost.metal3.io/status": `{"hardware":{"hostname":"` + name + `","nics":[{"ip":"192.168.1.10"}]},"poweredOn":true}`,
	}
	spec := map[string]any{"online": true, "externallyProvisioned": true}
	if consumer != "" {
		annotations["baremetalhost.metal3.io/paused"] = ""
		spec["consumerRef"] = map[string]any{"kind": "Machine", "name": consumer, "namespace": machineAPI}
	}
	return map[string]any{
		"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
		"metadata": map[string]any{"namespace": machineAPI, "name": name, "annotations": annotations}, "spec": spec,
	}
}

func machine(name, role string) map[string]any {
	return map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
		"metadata": map[string]any{
			"namespace": machineAPI, "name": name,
			"labels": map[string]any{"machine.openshift.io/cluster-api-machine-role": role},
		},
	}
}

// metal starts the machine API of a cluster with a master and workers.
func (b *bench) metal(provisioning bool, workers ...string) {
	b.t.Helper()
	if provisioning {
		b.put("provisionings", map[string]any{
			"apiVersion": "metal3.io/v1alpha1", "kind": "Provisioning", "metadata": map[string]any{"name": "provisioning-configuration"},
		})
	}
	b.put("machines", machine("test-master-0", "master"))
	b.put("baremetalhosts", bareMetalHost("master-0", "test-master-0"))
	for _, name := range workers {
		b.put("baremetalhosts", bareMetalHost(name, ""))
	}
	b.parts.Go(func() {
		err := kubeapi.RunMetal(b.ctx, b.url, kubeapi.MetalWorld{
			Workers: len(workers), Late: 300 * time.Millisecond, Poll: 20 * time.Millisecond,
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("machine API: %v", err)
		}
	})
}

func (b *bench) get(group, version, resource, namespace, name string) *unstructured.Unstructured {
	b.t.Helper()
	client, err := dynamic.NewForConfig(kubeapi.Config(b.url, kubeapi.UserAdmin))
	require.NoError(b.t, err)
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	found, err := client.Resource(gvr).Namespace(namespace).Get(b.ctx, name, metav1.GetOptions{})
	require.NoError(b.t, err)
	return found
}

func text(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
}

// TestRoleGrantsWhatAWholeInstallationAsksFor walks through an installation in which everything happens that the
// controller acts on. Every bench fails on a request that the role does not grant.
func TestRoleGrantsWhatAWholeInstallationAsksFor(t *testing.T) {
	t.Parallel()
	asked := append(installEverything(t), installWithoutProvisioning(t)...)

	content, err := os.ReadFile("../installer/manifests/02-cluster-role.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	var idle []string
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					one := rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: rule.ResourceNames,
					}
					if !slices.ContainsFunc(asked, func(a kubeapi.Access) bool { return kubeapi.Grants(one, a) }) {
						idle = append(idle, verb+" "+resource+"."+group)
					}
				}
			}
		}
	}
	// The pod itself needs this one, by its annotation openshift.io/required-scc.
	require.Equal(t, []string{"use securitycontextconstraints.security.openshift.io"}, idle)
}

func installEverything(t *testing.T) []kubeapi.Access {
	t.Helper()
	s := bareMetal(t, host(t, "master-0", "192.168.1.10/24"), host(t, "worker-0", "192.168.1.20/24"), host(t, "worker-1", "192.168.1.21/24"))
	moving, fetching := &s.cluster.Hosts[1], &s.cluster.Hosts[2]
	moving.MachineConfigPoolName = "storage"
	s.cluster.MonitoredOperators = append(s.cluster.MonitoredOperators, wire.MonitoredOperator{
		Name: "lvm", OperatorType: wire.Olm, Namespace: "openshift-storage", SubscriptionName: "lvms-operator",
	})
	s.manifests = late(t,
		"apiVersion: unknown.example.com/v1\nkind: Nothing\nmetadata: {name: never}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: late, namespace: openshift-storage}\n",
		"apiVersion: lvm.topolvm.io/v1alpha1\nkind: LVMCluster\nmetadata: {name: lvmcluster, namespace: openshift-storage}\n",
	)
	b := newBench(t, s)
	b.options.Runner, b.options.NotifyReboots, b.options.MustGatherImages = oc{t: t}, true, "quay.io/gather@sha256:1"
	joined := false
	s.before = func(*http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !joined && slices.Contains(s.stages[fetching.ID], "Configuring") {
			joined = true
			b.join("worker-1", "192.168.1.21", "worker")
		}
		// The service gives up on manifests that cannot be applied.
		if s.cluster.Progress.FinalizingStage == "Applying olm manifests" && len(s.named("late_manifest_not_applied")) > 0 {
			s.cluster.Progress.FinalizingStageTimedOut = true
		}
		return true
	}
	b.metal(true, "worker-0", "worker-1")
	b.put("machineconfigpools", map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "metadata": map[string]any{"name": "worker"},
		"spec": map[string]any{"paused": false},
	})
	b.put("pods", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
		"namespace": "openshift-machine-config-operator", "name": "machine-config-server-abcde",
		"labels": map[string]any{"k8s-app": "machine-config-server"},
		"annotations": map[string]any{kubeapi.LogAnnotation: "" +
			`I0101 api.go:65] Pool "master" requested by address:"192.168.1.99:40000" User-Agent:"curl/8"` + "\n" +
			`I0101 api.go:65] Pool "worker" requested by address:"192.168.1.21:40000" User-Agent:"Ignition/2.15.0" Accept-Header: ""` + "\n"},
	}})
	b.put("services", map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": named("openshift-monitoring", "greedy"),
		"spec": map[string]any{"clusterIP": "172.30.0.10", "clusterIPs": []any{"172.30.0.10"}},
	})
	b.put("pods", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": named("openshift-dns-operator", "dns-operator-1")})
	b.put("jobs", map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"namespace": "openshift-kmm", "name": "setup", "labels": map[string]any{"agent-install.openshift.io/setup-job": "kmm"},
		},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True"}}},
	})
	b.put("subscriptions", map[string]any{
		"apiVersion": olm, "kind": "Subscription",
		"metadata": map[string]any{
			"namespace": "openshift-storage", "name": "lvms-operator", "annotations": map[string]any{kubeapi.StuckAnnotation: "yes"},
		},
	})
	b.parts.Go(func() { _ = kubeapi.RunOLM(b.ctx, b.url, 20*time.Millisecond) })
	b.join("master-0", "192.168.1.10", "master")
	b.join("worker-0", "192.168.1.20", "worker")
	b.rollOut(1)
	useProxy(t, b)

	require.NoError(t, controller.Run(b.ctx, b.options))
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
	b.requireEverything(s, fetching)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// requireEverything looks at what the controller left behind.
func (b *bench) requireEverything(s *service, fetching *wire.Host) {
	t := b.t
	t.Helper()
	require.Equal(t, []wire.HostStage{"Configuring", "Joined", "Done"}, s.stages[fetching.ID])

	master := b.get("metal3.io", "v1alpha1", "baremetalhosts", machineAPI, "master-0")
	require.NotContains(t, master.GetAnnotations(), "baremetalhost.metal3.io/paused")
	taken := map[string]bool{}
	for _, name := range []string{"worker-0", "worker-1"} {
		taken[text(b.get("metal3.io", "v1alpha1", "baremetalhosts", machineAPI, name), "spec", "consumerRef", "name")] = true
	}
	require.Equal(t, map[string]bool{"test-worker-0-0": true, "test-worker-0-1": true}, taken)

	pool := b.get("machineconfiguration.openshift.io", "v1", "machineconfigpools", "", "worker")
	paused, _, _ := unstructured.NestedBool(pool.Object, "spec", "paused")
	require.False(t, paused, "the pool works again")
	require.Empty(t, pool.GetAnnotations())
	require.Contains(t, b.get("", "v1", "nodes", "", "worker-0").GetLabels(), "node-role.kubernetes.io/storage")

	_, err := b.kube.CoreV1().Services("openshift-monitoring").Get(b.ctx, "greedy", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the DNS needs the address")
	_, err = b.kube.CoreV1().Pods("openshift-dns-operator").Get(b.ctx, "dns-operator-1", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "its operator starts again")

	require.Equal(t, wire.OperatorStatusAvailable, s.cluster.MonitoredOperators[2].Status)
	b.get("", "v1", "secrets", "openshift-storage", "late")
	b.get("lvm.topolvm.io", "v1alpha1", "lvmclusters", "openshift-storage", "lvmcluster")
	require.Contains(t, s.named("late_manifest_not_applied")[0].Message, "Nothing never of manifest late-0.yaml cannot be applied yet: ")
	failed := s.named("operator_setup_failed")
	require.Len(t, failed, 1, "said once, however often it is looked at")
	require.Contains(t, failed[0].Message, "Operator kmm is not set up: its job openshift-kmm/setup has failed")

	reboots := s.named("reboots_for_node")
	require.NotEmpty(t, reboots)
	require.Contains(t, reboots[0].Message, "has been rebooted 2 times")
	require.Contains(t, reboots[0].Props, `"reboots":2`)
}

// named lists the events of a name.
func (s *service) named(name string) []wire.Event {
	return slices.DeleteFunc(slices.Clone(s.events), func(e wire.Event) bool { return e.Name != name })
}

// useProxy reads the proxy of the cluster as the controller's program does.
func useProxy(t *testing.T, b *bench) {
	t.Helper()
	b.put("proxies", map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Proxy", "metadata": map[string]any{"name": "cluster"},
		"spec":   map[string]any{"httpsProxy": "http://proxy.example.com:3128"},
		"status": map[string]any{"httpsProxy": "http://proxy.example.com:3128", "noProxy": ".cluster.local,api-int.test.example.com"},
	})
	proxy, err := controller.NewProxy(b.options.Kube, time.Now)
	require.NoError(t, err)
	for address, want := range map[string]string{
		"https://slipway.example.org/": "http://proxy.example.com:3128", "https://api-int.test.example.com:6443/": "",
	} {
		r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, address, nil)
		require.NoError(t, err)
		got, err := proxy.For(r)
		require.NoError(t, err)
		if want == "" {
			require.Nil(t, got, address)
			continue
		}
		require.Equal(t, want, got.String(), address)
	}
}

// installWithoutProvisioning has no bare metal operator that would take the status over.
func installWithoutProvisioning(t *testing.T) []kubeapi.Access {
	t.Helper()
	s := bareMetal(t, host(t, "master-0", "192.168.1.10/24"))
	b := newBench(t, s)
	b.metal(false)
	b.join("master-0", "192.168.1.10", "master")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))
	master := b.get("metal3.io", "v1alpha1", "baremetalhosts", machineAPI, "master-0")
	require.Equal(t, "master-0", text(master, "status", "hardware", "hostname"))
	require.NotEmpty(t, text(master, "status", "lastUpdated"))
	require.NotContains(t, master.GetAnnotations(), "baremetalhost.metal3.io/status")
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func TestRunRemovesTheTaintThatNoCloudControllerRemoves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		platform  wire.PlatformType
		overrides string
		cloud     bool // a cloud controller manager reaches the cloud
	}{
		"vSphere": {wire.PlatformTypeVsphere, "", false},
		"Nutanix": {wire.PlatformTypeNutanix, "", false},
		"vSphere with credentials": {
			wire.PlatformTypeVsphere, `{"platform":{"vsphere":{"vcenters":[{"server":"vcenter.example.com","password":"a secret"}]}}}`, true,
		},
		"a cloud of the user's own": {wire.PlatformTypeExternal, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, host(t, "sno", "192.168.1.10/24"))
			s.cluster.Platform, s.cluster.InstallConfigOverrides = wire.Platform{Type: tc.platform}, tc.overrides
			b := newBench(t, s)
			b.joinAs(kubeapi.NodeSpec{
				Name: "sno", Roles: []string{"master"}, Uninitialized: true,
				Taints: []corev1.Taint{{Key: "example.com/own", Effect: corev1.TaintEffectNoExecute}},
			}, "192.168.1.10")
			b.rollOut(1)
			if tc.cloud {
				b.parts.Go(func() { _ = kubeapi.RunCloud(b.ctx, b.url, 20*time.Millisecond) })
			}
			require.NoError(t, controller.Run(b.ctx, b.options))
			node, err := b.kube.CoreV1().Nodes().Get(b.ctx, "sno", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, []corev1.Taint{{Key: "example.com/own", Effect: corev1.TaintEffectNoExecute}}, node.Spec.Taints)
			require.Equal(t, tc.cloud, node.Spec.ProviderID != "", "the cloud initializes nodes that still have its taint")
		})
	}
}
