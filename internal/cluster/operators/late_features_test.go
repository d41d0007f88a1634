package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Node feature discovery sets the labels that other operators select nodes by.
func TestRulesOfNodeFeatureDiscovery(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.choose("node-feature-discovery")
	_, late := render(t, w)
	requireFields(t, late, []field{
		{"NodeFeatureDiscovery/nfd-instance", "metadata.namespace", "openshift-nfd"},
		{"NodeFeatureDiscovery/nfd-instance", "spec.instance", `""`},
		{"NodeFeatureDiscovery/nfd-instance", "spec.topologyUpdater", "false"},
		{"NodeFeatureDiscovery/nfd-instance", "spec.operand", "{imagePullPolicy: IfNotPresent, servicePort: 12000}"},
		{"NodeFeatureDiscovery/nfd-instance", "spec.workerConfig.configData", `|
  core:
    sleepInterval: 60s
  sources:
    pci:
      deviceClassWhitelist: ["0200", "03", "12"]
      deviceLabelFields: [vendor]
`},
	})
	for _, want := range []struct{ name, vendor, devices string }{
		{"amd-gpu", "1002", `["75a3", "75a8", "75a0", "74a5", "74a2", "74a8", "74a0", "74a1", "74a9", "74bd", "740f", "7408", "740c", "738c", "738e"]`},
		{"amd-vgpu", "1002", `["75b3", "75b8", "75b0", "74b9", "74b6", "74bc", "74b5", "74bd", "7410"]`},
	} {
		requireFields(t, late, []field{
			{"NodeFeatureRule/" + want.name, "metadata.namespace", "openshift-nfd"},
			{"NodeFeatureRule/" + want.name, "spec.rules", `
- name: ` + want.name + `
  labels: {feature.node.kubernetes.io/` + want.name + `: "true"}
  matchFeatures:
  - feature: pci.device
    matchExpressions:
      vendor: {op: In, value: ["` + want.vendor + `"]}
      device: {op: In, value: ` + want.devices + `}`},
		})
	}
	for name, device := range map[string]string{"amd-nic": "1002", "amd-vnic": "1003"} {
		requireFields(t, late, []field{
			{"NodeFeatureRule/" + name, "spec.rules", `
- name: ` + name + `
  labels: {feature.node.kubernetes.io/` + name + `: "true"}
  matchFeatures:
  - feature: pci.device
    matchExpressions:
      vendor: {op: In, value: [1dd8]}
      device: {op: In, value: ["` + device + `"]}
      subsystem_vendor: {op: In, value: [1dd8]}
      subsystem_device: {op: In, value: ["5201"]}`},
		})
	}
	require.Len(t, late, 5)
}

func TestModelsAreServedBySettingsOfTheTopology(t *testing.T) {
	t.Parallel()
	single := newWorld()
	single.single()
	for _, tt := range []struct {
		name                string
		w                   *fixture
		kserve, serviceMesh string
	}{
		{"several nodes", newWorld(), "Managed", "Managed"},
		{"a single node", single, "Removed", "Removed"},
	} {
		tt.w.choose("openshift-ai")
		_, late := render(t, tt.w)
		requireFields(t, late, []field{
			{dsci, "spec", `
applicationsNamespace: redhat-ods-applications
monitoring: {managementState: Managed, namespace: redhat-ods-monitoring}
serviceMesh: {managementState: ` + tt.serviceMesh + `}
trustedCABundle: {managementState: Managed, customCABundle: ""}`},
			{dsc, "spec.components", `
codeflare: {managementState: Managed}
dashboard: {managementState: Managed}
datasciencepipelines: {managementState: Managed}
kserve:
  managementState: ` + tt.kserve + `
  serving:
    name: knative-serving
    managementState: Managed
    ingressGateway: {certificate: {type: OpenshiftDefaultIngress}}
kueue: {managementState: Managed}
modelmeshserving: {managementState: Managed}
ray: {managementState: Managed}
trainingoperator: {managementState: Removed}
trustyai: {managementState: Removed}
workbenches: {managementState: Managed}`},
			{"HardwareProfile/amd-gpu", "-", ""},
			{"HardwareProfile/nvidia-gpu", "-", ""},
		})
	}
}

const (
	dsci = "DSCInitialization/default-dsci"
	dsc  = "DataScienceCluster/default-dsc"
)

func TestModelsKnowTheGPUs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.choose("openshift-ai", "amd-gpu", "nvidia-gpu")
	_, late := render(t, w)
	for name, want := range map[string]struct{ resource, title string }{
		"amd-gpu": {"amd.com/gpu", "AMD GPU"}, "nvidia-gpu": {"nvidia.com/gpu", "NVIDIA GPU"},
	} {
		profile := "HardwareProfile/" + name
		requireFields(t, late, []field{
			{profile, "apiVersion", "infrastructure.opendatahub.io/v1alpha1"},
			{profile, "metadata.namespace", "redhat-ods-applications"},
			{profile, "spec.identifiers", `
[{identifier: ` + want.resource + `, displayName: ` + want.title + `, resourceType: Accelerator, defaultCount: 1, minCount: 0}]`},
			{profile, "spec.scheduling", `
{type: Node, node: {tolerations: [{key: ` + want.resource + `, operator: Exists, effect: NoSchedule}]}}`},
		})
	}
}
