package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
)

// field is a requirement on an object: its kind and name, the path of the field, and the value as YAML. Without a path the object must
// be there, with the path "-" it must not.
type field struct{ object, path, want string }

// renderCase is a cluster and fields of its rendered objects, as openshift/assisted-service renders them (internal/operators, the
// folder of each).
type renderCase struct {
	name   string
	choose []string
	change func(*fixture)
	fields []field
}

func requireFields(t *testing.T, found rendered, fields []field) {
	t.Helper()
	for _, f := range fields {
		switch f.path {
		case "":
			require.Contains(t, found, f.object)
		case "-":
			require.NotContains(t, found, f.object)
		default:
			require.Contains(t, found, f.object)
			requireField(t, found[f.object], f.path, f.want)
		}
	}
}

func runRenderCases(t *testing.T, cases []renderCase, pick func(day1, late rendered) rendered) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.choose[0]+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			w.choose(tt.choose...)
			day1, late := render(t, w)
			requireFields(t, pick(day1, late), tt.fields)
		})
	}
}

func at(version string) func(*fixture) { return func(w *fixture) { w.version(version) } }

const pool = "pools.operator.machineconfiguration.openshift.io/"

var lateCases = []renderCase{
	{"knows its driver and where it runs", []string{"amd-gpu"}, nil, []field{
		{"DeviceConfig/default", "metadata.namespace", "openshift-amd-gpu"},
		{"DeviceConfig/default", "spec.driver.version", "6.4.3"},
		{"DeviceConfig/default", "spec.devicePlugin.devicePluginImage", "docker.io/rocm/k8s-device-plugin:latest"},
		{"DeviceConfig/default", "spec.devicePlugin.nodeLabellerImage", "docker.io/rocm/k8s-device-plugin:labeller-latest"},
		{"DeviceConfig/default", "spec.selector", `{feature.node.kubernetes.io/amd-gpu: "true"}`},
	}},
	{"runs on bare metal and keeps storage to the user", []string{"cnv"}, (*fixture).single, []field{
		{"HyperConverged/kubevirt-hyperconverged", "metadata.namespace", "openshift-cnv"},
		{"HyperConverged/kubevirt-hyperconverged", "spec", "{BareMetalPlatform: true}"},
		{"HostPathProvisioner/hostpath-provisioner", "-", ""},
	}},
	{"keeps volumes in a folder on an old single node", []string{"cnv"}, func(w *fixture) { w.single(); w.version("4.11.9") }, []field{
		{"HostPathProvisioner/hostpath-provisioner", "spec.imagePullPolicy", "IfNotPresent"},
		{"HostPathProvisioner/hostpath-provisioner", "spec.storagePools.0", `
name: sno
path: /var/hpvolumes
pvcTemplate:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 50Gi}}
  storageClassName: localblock-sc
  volumeMode: Block`},
		{"HostPathProvisioner/hostpath-provisioner", "spec.workload.nodeSelector", "{kubernetes.io/os: linux}"},
	}},
	{"moves nothing by itself without virtual machines", []string{"kube-descheduler"}, nil, []field{
		{"KubeDescheduler/cluster", "metadata.namespace", "openshift-kube-descheduler-operator"},
		{"KubeDescheduler/cluster", "spec", `
{managementState: Managed, logLevel: Normal, operatorLogLevel: Normal, mode: Predictive,
 deschedulingIntervalSeconds: 3600, profiles: [AffinityAndTaints]}`},
	}},
	{"moves virtual machines in 4.16", []string{"kube-descheduler", "cnv"}, at("4.16.2"), []field{
		{"KubeDescheduler/cluster", "spec.mode", "Automatic"},
		{"KubeDescheduler/cluster", "spec.deschedulingIntervalSeconds", "60"},
		{"KubeDescheduler/cluster", "spec.profiles", "[DevPreviewLongLifecycle, EvictPodsWithPVC, EvictPodsWithLocalStorage]"},
		{"KubeDescheduler/cluster", "spec.profileCustomizations", "{devEnableEvictionsInBackground: true}"},
	}},
	{"moves virtual machines in 4.17", []string{"kube-descheduler", "cnv"}, at("4.17.0"), []field{
		{"KubeDescheduler/cluster", "spec.mode", "Automatic"},
		{"KubeDescheduler/cluster", "spec.profiles", "[LongLifecycle, EvictPodsWithPVC, EvictPodsWithLocalStorage]"},
		{"KubeDescheduler/cluster", "spec.profileCustomizations", "{devEnableEvictionsInBackground: true}"},
	}},
	{"moves virtual machines in 4.18", []string{"kube-descheduler", "cnv"}, at("4.18.20"), []field{
		{"KubeDescheduler/cluster", "spec.profiles", "[DevKubeVirtRelieveAndMigrate]"},
		{"KubeDescheduler/cluster", "spec.profileCustomizations", `
{devEnableSoftTainter: true, devDeviationThresholds: AsymmetricLow, devActualUtilizationProfile: PrometheusCPUCombined,
 devEnableEvictionsInBackground: true}`},
	}},
	{"moves virtual machines in 4.19", []string{"kube-descheduler", "cnv"}, at("4.19.1"), []field{
		{"KubeDescheduler/cluster", "spec.profiles", "[DevKubeVirtRelieveAndMigrate]"},
		{"KubeDescheduler/cluster", "spec.profileCustomizations", ""},
	}},
	{"moves virtual machines in 4.20", []string{"kube-descheduler", "cnv"}, at("4.20.0-rc.1"), []field{
		{"KubeDescheduler/cluster", "spec.mode", "Automatic"},
		{"KubeDescheduler/cluster", "spec.deschedulingIntervalSeconds", "60"},
		{"KubeDescheduler/cluster", "spec.profiles", "[KubeVirtRelieveAndMigrate]"},
		{"KubeDescheduler/cluster", "spec.profileCustomizations", ""},
	}},
	{"offers every empty disk", []string{"lso"}, nil, []field{
		{"LocalVolumeSet/local-disks", "metadata.namespace", "openshift-local-storage"},
		{"LocalVolumeSet/local-disks", "spec.storageClassName", "localblock-sc"},
		{"LocalVolumeSet/local-disks", "spec.volumeMode", "Block"},
		{"LocalVolumeSet/local-disks", "spec.deviceInclusionSpec", "{deviceTypes: [disk, mpath], minSize: 1Gi}"},
	}},
	{"offers only disks that the storage takes", []string{"lso", "odf"}, nil, []field{
		{"LocalVolumeSet/local-disks", "spec.deviceInclusionSpec", "{deviceTypes: [disk, mpath], minSize: 23Gi}"},
	}},
	{"makes its storage class the default", []string{"lvm"}, (*fixture).single, []field{
		{"LVMCluster/lvmcluster", "metadata.namespace", "openshift-storage"},
		{"LVMCluster/lvmcluster", "spec.storage.deviceClasses", `
[{name: vg1, default: true, fstype: xfs, thinPoolConfig: {name: thin-pool-1, sizePercent: 90, overprovisionRatio: 10}}]`},
	}},
	{"installs no clusters without storage", []string{"mce"}, nil, []field{
		{"MultiClusterEngine/mce", "spec", "{targetNamespace: multicluster-engine, availabilityConfig: High}"},
		{"AgentServiceConfig/agent", "-", ""},
	}},
	{"runs once on a single node", []string{"mce"}, (*fixture).single, []field{
		{"MultiClusterEngine/mce", "spec.availabilityConfig", "Basic"},
	}},
	{"installs clusters with storage of several nodes", []string{"mce", "odf", "lso"}, nil, []field{
		{"AgentServiceConfig/agent", "spec.databaseStorage", volumeClaim("ocs-storagecluster-cephfs", "10Gi")},
		{"AgentServiceConfig/agent", "spec.filesystemStorage", volumeClaim("ocs-storagecluster-cephfs", "10Gi")},
		{"AgentServiceConfig/agent", "spec.imageStorage", volumeClaim("ocs-storagecluster-cephfs", "50Gi")},
	}},
	{"installs clusters with storage of one node", []string{"mce", "lvm"}, (*fixture).single, []field{
		{"AgentServiceConfig/agent", "spec.filesystemStorage", volumeClaim("lvms-vg1", "10Gi")},
		{"AgentServiceConfig/agent", "spec.imageStorage", volumeClaim("lvms-vg1", "50Gi")},
	}},
	{"has no addresses of its own", []string{"metallb"}, nil, []field{
		{"MetalLB/metallb", "metadata.namespace", "metallb-system"}, {"MetalLB/metallb", "spec", "{}"},
	}},
	{"is managed by OLM", []string{"mtv"}, nil, []field{
		{"ForkliftController/forklift-controller", "metadata.namespace", "openshift-mtv"},
		{"ForkliftController/forklift-controller", "spec", "{olm_managed: true}"},
	}},
	{"has one object", []string{"nmstate"}, nil, []field{{"NMState/nmstate", "spec", ""}}},
	{"remedies workers alone", []string{"node-healthcheck"}, (*fixture).compact, []field{
		{healthCheck, "spec.selector.matchExpressions", `
- {key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}
- {key: node-role.kubernetes.io/master, operator: DoesNotExist}`},
		{healthCheck, "spec.minHealthy", "51%"},
		{healthCheck, "spec.unhealthyConditions", `
- {type: Ready, status: "False", duration: 300s}
- {type: Ready, status: Unknown, duration: 300s}`},
		{healthCheck, "spec.remediationTemplate", `
apiVersion: self-node-remediation.medik8s.io/v1alpha1
kind: SelfNodeRemediationTemplate
namespace: openshift-workload-availability
name: self-node-remediation-automatic-strategy-template`},
	}},
	{"selects the pool of workers by label before 4.18", []string{"numaresources"}, at("4.17.9"), []field{
		{
			"NUMAResourcesOperator/numaresourcesoperator", "spec.nodeGroups",
			`[{machineConfigPoolSelector: {matchLabels: {` + pool + `worker: ""}}}]`,
		},
	}},
	{"names the pool of workers from 4.18", []string{"numaresources"}, at("4.18.0"), []field{
		{"NUMAResourcesOperator/numaresourcesoperator", "spec.nodeGroups", `[{poolName: worker}]`},
	}},
	{"names the pool of a control plane that works", []string{"numaresources"}, (*fixture).compact, []field{
		{"NUMAResourcesOperator/numaresourcesoperator", "spec.nodeGroups", `[{poolName: master}]`},
	}},
	{
		"selects the pool of a single node by label before 4.18",
		[]string{"numaresources"},
		func(w *fixture) { w.single(); w.version("4.16.1") },
		[]field{
			{
				"NUMAResourcesOperator/numaresourcesoperator", "spec.nodeGroups",
				`[{machineConfigPoolSelector: {matchLabels: {` + pool + `master: ""}}}]`,
			},
		},
	},
	{"builds its driver with the tools of the release", []string{"nvidia-gpu"}, nil, []field{
		{"ClusterPolicy/gpu-cluster-policy", "spec.operator.use_ocp_driver_toolkit", "true"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.operator.runtimeClass", "nvidia"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.migManager.enabled", "true"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.mig.strategy", "single"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.sandboxWorkloads", "{enabled: false, defaultWorkload: container}"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.driver.upgradePolicy.maxParallelUpgrades", "1"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.daemonsets", `{updateStrategy: RollingUpdate, rollingUpdate: {maxUnavailable: "1"}}`},
		{"ClusterPolicy/gpu-cluster-policy", "spec.toolkit", "{enabled: true, installDir: /usr/local/nvidia}"},
		{"ClusterPolicy/gpu-cluster-policy", "spec.validator.plugin.env", `[{name: WITH_WORKLOAD, value: "false"}]`},
	}},
	{"runs on nodes that nothing labels", []string{"osc"}, nil, []field{
		{"KataConfig/cluster-kataconfig", "spec", "{enablePeerPods: false, logLevel: info}"},
	}},
}

const healthCheck = "NodeHealthCheck/node-healthcheck-self-node-remediation-workers"

func volumeClaim(class, size string) string {
	return "{accessModes: [ReadWriteOnce], storageClassName: " + class + ", resources: {requests: {storage: " + size + "}}}"
}

func TestLateManifests(t *testing.T) {
	t.Parallel()
	runRenderCases(t, lateCases, func(_, late rendered) rendered { return late })
}

// The operators without late manifests: users set them up.
func TestOperatorsWithoutLateManifests(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"authorino", "cluster-observability", "fence-agents-remediation", "kmm", "loki", "node-maintenance", "oadp",
		"openshift-logging", "pipelines", "self-node-remediation", "serverless", "servicemesh",
	} {
		w := newWorld()
		w.choose(name)
		_, custom, err := operators.Manifests(w.c, w.hosts)
		require.NoError(t, err)
		require.Empty(t, custom, name)
	}
}

// The controller of openshift/assisted-installer skips entries that are not named like an operator that is ready
// (assisted_installer_controller.go, applyPostInstallManifests).
func TestLateManifestsAreNamedLikeTheirOperators(t *testing.T) {
	t.Parallel()
	entries := func(names ...string) []string {
		w := newWorld()
		w.choose(names...)
		_, custom, err := operators.Manifests(w.c, w.hosts)
		require.NoError(t, err)
		out := []string{}
		for _, f := range custom {
			out = append(out, f.Name)
		}
		return out
	}
	require.Equal(t,
		[]string{"node-feature-discovery", "amd-gpu", "cnv", "lso", "mtv", "odf"},
		entries("mtv", "cnv", "odf", "lso", "amd-gpu", "node-feature-discovery", "kmm"), "each after what it needs")
	require.Equal(t, []string{"lso", "mce", "odf", "odf"}, entries("mce", "odf", "lso"), "the last one needs the storage")
	require.Equal(t, []string{"lvm", "mce", "lvm"}, entries("mce", "lvm"))
}
