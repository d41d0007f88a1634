package kubeapi

import "strings"

// operatorResources lists the kinds that operators act on. Each kind appears with its operator: the operator lifecycle manager
// makes the definitions of a bundle before its ClusterServiceVersion (operator-framework/operator-lifecycle-manager,
// pkg/controller/operators/catalog).
var operatorResources = []*resource{
	{kind("local.storage.openshift.io", "v1alpha1", "LocalVolumeSet"), "localvolumesets", namespaced, withStatus, "local-storage-operator"},
	{kind("odf.openshift.io", "v1alpha1", "StorageSystem"), "storagesystems", namespaced, withStatus, "odf-operator"},
	{kind("ocs.openshift.io", "v1", "StorageCluster"), "storageclusters", namespaced, withStatus, "odf-operator"},
	{kind("lvm.topolvm.io", "v1alpha1", "LVMCluster"), "lvmclusters", namespaced, withStatus, "lvms-operator"},
	{kind("hco.kubevirt.io", "v1beta1", "HyperConverged"), "hyperconvergeds", namespaced, withStatus, "hco-operatorhub"},
	{
		kind("hostpathprovisioner.kubevirt.io", "v1beta1", "HostPathProvisioner"), "hostpathprovisioners", cluster, withStatus, "hco-operatorhub",
	},
	{kind("forklift.konveyor.io", "v1beta1", "ForkliftController"), "forkliftcontrollers", namespaced, withStatus, "mtv-operator"},
	{kind("multicluster.openshift.io", "v1", "MultiClusterEngine"), "multiclusterengines", cluster, withStatus, "multicluster-engine"},
	{kind("agent-install.openshift.io", "v1beta1", "AgentServiceConfig"), "agentserviceconfigs", cluster, withStatus, "multicluster-engine"},
	{kind("metallb.io", "v1beta1", "MetalLB"), "metallbs", namespaced, withStatus, "metallb-operator"},
	{kind("nmstate.io", "v1", "NMState"), "nmstates", cluster, withStatus, "kubernetes-nmstate-operator"},
	{kind("nfd.openshift.io", "v1", "NodeFeatureDiscovery"), "nodefeaturediscoveries", namespaced, withStatus, "nfd"},
	{kind("nfd.k8s-sigs.io", "v1alpha1", "NodeFeatureRule"), "nodefeaturerules", cluster, plain, "nfd"},
	{kind("nvidia.com", "v1", "ClusterPolicy"), "clusterpolicies", cluster, withStatus, "gpu-operator-certified"},
	{kind("amd.com", "v1alpha1", "DeviceConfig"), "deviceconfigs", namespaced, withStatus, "amd-gpu-operator"},
	{kind("remediation.medik8s.io", "v1alpha1", "NodeHealthCheck"), "nodehealthchecks", cluster, withStatus, "node-healthcheck-operator"},
	{kind("operator.openshift.io", "v1", "KubeDescheduler"), "kubedeschedulers", namespaced, withStatus, "cluster-kube-descheduler-operator"},
	{
		kind("nodetopology.openshift.io", "v1", "NUMAResourcesOperator"), "numaresourcesoperators", cluster, withStatus,
		"numaresources-operator",
	},
	{kind("dscinitialization.opendatahub.io", "v1", "DSCInitialization"), "dscinitializations", cluster, withStatus, "rhods-operator"},
	{kind("infrastructure.opendatahub.io", "v1alpha1", "HardwareProfile"), "hardwareprofiles", namespaced, plain, "rhods-operator"},
	{kind("datasciencecluster.opendatahub.io", "v1", "DataScienceCluster"), "datascienceclusters", cluster, withStatus, "rhods-operator"},
	{kind("kataconfiguration.openshift.io", "v1", "KataConfig"), "kataconfigs", cluster, withStatus, "sandboxed-containers-operator"},
}

// served reports whether the API has a kind now.
func (s *Server) served(r *resource) bool {
	if r.operator == "" {
		return true
	}
	versions, _ := s.store.list(resourceNamed(serviceVersions.GroupVersion(), serviceVersions.Resource), "")
	for _, csv := range versions {
		if strings.HasPrefix(csv.GetName(), r.operator+".v") {
			return true
		}
	}
	return false
}
