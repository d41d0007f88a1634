package kubeapi

// operatorResources are what operators act on. In a real cluster each kind appears with
// its operator; here all are served from the beginning.
var operatorResources = []*resource{
	{kind("storage.k8s.io", "v1", "StorageClass"), "storageclasses", cluster, plain},
	{kind("local.storage.openshift.io", "v1alpha1", "LocalVolumeSet"), "localvolumesets", namespaced, withStatus},
	{kind("ocs.openshift.io", "v1", "StorageCluster"), "storageclusters", namespaced, withStatus},
	{kind("lvm.topolvm.io", "v1alpha1", "LVMCluster"), "lvmclusters", namespaced, withStatus},
	{kind("hco.kubevirt.io", "v1beta1", "HyperConverged"), "hyperconvergeds", namespaced, withStatus},
	{kind("hostpathprovisioner.kubevirt.io", "v1beta1", "HostPathProvisioner"), "hostpathprovisioners", cluster, withStatus},
	{kind("forklift.konveyor.io", "v1beta1", "ForkliftController"), "forkliftcontrollers", namespaced, withStatus},
	{kind("multicluster.openshift.io", "v1", "MultiClusterEngine"), "multiclusterengines", cluster, withStatus},
	{kind("agent-install.openshift.io", "v1beta1", "AgentServiceConfig"), "agentserviceconfigs", cluster, withStatus},
	{kind("metallb.io", "v1beta1", "MetalLB"), "metallbs", namespaced, withStatus},
	{kind("nmstate.io", "v1", "NMState"), "nmstates", cluster, withStatus},
	{kind("nfd.openshift.io", "v1", "NodeFeatureDiscovery"), "nodefeaturediscoveries", namespaced, withStatus},
	{kind("nvidia.com", "v1", "ClusterPolicy"), "clusterpolicies", cluster, withStatus},
	{kind("amd.com", "v1alpha1", "DeviceConfig"), "deviceconfigs", namespaced, withStatus},
	{kind("remediation.medik8s.io", "v1alpha1", "NodeHealthCheck"), "nodehealthchecks", cluster, withStatus},
	{kind("operator.openshift.io", "v1", "KubeDescheduler"), "kubedeschedulers", namespaced, withStatus},
	{kind("nodetopology.openshift.io", "v1", "NUMAResourcesOperator"), "numaresourcesoperators", cluster, withStatus},
	{kind("datasciencecluster.opendatahub.io", "v1", "DataScienceCluster"), "datascienceclusters", cluster, withStatus},
	{kind("kataconfiguration.openshift.io", "v1", "KataConfig"), "kataconfigs", cluster, withStatus},
}
