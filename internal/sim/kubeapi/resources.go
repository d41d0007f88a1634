package kubeapi

import "k8s.io/apimachinery/pkg/runtime/schema"

// resource is one kind of object the API serves.
type resource struct {
	schema.GroupVersionKind
	name       string // plural, as in URLs
	namespaced bool
	// hasStatus: the status is written through the status subresource alone.
	hasStatus bool
}

func (r *resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.name}
}

const (
	cluster    = false
	namespaced = true
	plain      = false
	withStatus = true
)

// resources is everything the API serves.
var resources = append(append([]*resource{}, installationResources...), operatorResources...)

// installationResources are what an installation reads or writes, and the kinds users
// put into manifests most often.
var installationResources = []*resource{
	{kind("", "v1", "Namespace"), "namespaces", cluster, plain},
	{kind("", "v1", "Node"), "nodes", cluster, withStatus},
	{kind("", "v1", "Pod"), "pods", namespaced, withStatus},
	{kind("", "v1", "Service"), "services", namespaced, plain},
	{kind("", "v1", "ConfigMap"), "configmaps", namespaced, plain},
	{kind("", "v1", "Secret"), "secrets", namespaced, plain},
	{kind("", "v1", "ServiceAccount"), "serviceaccounts", namespaced, plain},
	{kind("", "v1", "Event"), "events", namespaced, plain},
	{kind("apps", "v1", "Deployment"), "deployments", namespaced, withStatus},
	{kind("apps", "v1", "DaemonSet"), "daemonsets", namespaced, withStatus},
	{kind("batch", "v1", "Job"), "jobs", namespaced, withStatus},
	{kind("rbac.authorization.k8s.io", "v1", "ClusterRole"), "clusterroles", cluster, plain},
	{kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"), "clusterrolebindings", cluster, plain},
	{kind("rbac.authorization.k8s.io", "v1", "Role"), "roles", namespaced, plain},
	{kind("rbac.authorization.k8s.io", "v1", "RoleBinding"), "rolebindings", namespaced, plain},
	{kind("certificates.k8s.io", "v1", "CertificateSigningRequest"), "certificatesigningrequests", cluster, withStatus},
	{kind("config.openshift.io", "v1", "ClusterVersion"), "clusterversions", cluster, withStatus},
	{kind("config.openshift.io", "v1", "ClusterOperator"), "clusteroperators", cluster, withStatus},
	{kind("config.openshift.io", "v1", "Infrastructure"), "infrastructures", cluster, withStatus},
	{kind("config.openshift.io", "v1", "Proxy"), "proxies", cluster, withStatus},
	{kind("operator.openshift.io", "v1", "Etcd"), "etcds", cluster, withStatus},
	{kind("metal3.io", "v1alpha1", "BareMetalHost"), "baremetalhosts", namespaced, withStatus},
	{kind("metal3.io", "v1alpha1", "Provisioning"), "provisionings", cluster, withStatus},
	{kind("machine.openshift.io", "v1beta1", "Machine"), "machines", namespaced, withStatus},
	{kind("machine.openshift.io", "v1beta1", "MachineSet"), "machinesets", namespaced, withStatus},
	{kind("machine.openshift.io", "v1", "ControlPlaneMachineSet"), "controlplanemachinesets", namespaced, withStatus},
	{kind("route.openshift.io", "v1", "Route"), "routes", namespaced, withStatus},
	{kind("machineconfiguration.openshift.io", "v1", "MachineConfig"), "machineconfigs", cluster, plain},
	{kind("machineconfiguration.openshift.io", "v1", "MachineConfigPool"), "machineconfigpools", cluster, withStatus},
	{kind("operators.coreos.com", "v1", "OperatorGroup"), "operatorgroups", namespaced, withStatus},
	{kind("operators.coreos.com", "v1alpha1", "Subscription"), "subscriptions", namespaced, withStatus},
	{kind("operators.coreos.com", "v1alpha1", "InstallPlan"), "installplans", namespaced, withStatus},
	{kind("operators.coreos.com", "v1alpha1", "ClusterServiceVersion"), "clusterserviceversions", namespaced, withStatus},
}

// operatorResources are what operators act on. In a real cluster each kind appears with
// its operator; here all are served from the beginning.
var operatorResources = []*resource{
	{kind("storage.k8s.io", "v1", "StorageClass"), "storageclasses", cluster, plain},
	{kind("local.storage.openshift.io", "v1alpha1", "LocalVolumeSet"), "localvolumesets", namespaced, withStatus},
	{kind("odf.openshift.io", "v1alpha1", "StorageSystem"), "storagesystems", namespaced, withStatus},
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
	{kind("nfd.k8s-sigs.io", "v1alpha1", "NodeFeatureRule"), "nodefeaturerules", cluster, plain},
	{kind("nvidia.com", "v1", "ClusterPolicy"), "clusterpolicies", cluster, withStatus},
	{kind("amd.com", "v1alpha1", "DeviceConfig"), "deviceconfigs", namespaced, withStatus},
	{kind("remediation.medik8s.io", "v1alpha1", "NodeHealthCheck"), "nodehealthchecks", cluster, withStatus},
	{kind("operator.openshift.io", "v1", "KubeDescheduler"), "kubedeschedulers", namespaced, withStatus},
	{kind("nodetopology.openshift.io", "v1", "NUMAResourcesOperator"), "numaresourcesoperators", cluster, withStatus},
	{kind("dscinitialization.opendatahub.io", "v1", "DSCInitialization"), "dscinitializations", cluster, withStatus},
	{kind("infrastructure.opendatahub.io", "v1alpha1", "HardwareProfile"), "hardwareprofiles", namespaced, plain},
	{kind("datasciencecluster.opendatahub.io", "v1", "DataScienceCluster"), "datascienceclusters", cluster, withStatus},
	{kind("kataconfiguration.openshift.io", "v1", "KataConfig"), "kataconfigs", cluster, withStatus},
}

func kind(group, version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// resourceNamed finds a resource by its place in URLs, nil if it is not served.
func resourceNamed(gv schema.GroupVersion, name string) *resource {
	for _, r := range resources {
		if r.GroupVersion() == gv && r.name == name {
			return r
		}
	}
	return nil
}

// resourceOfKind finds a resource by the apiVersion and kind of its objects.
func resourceOfKind(gvk schema.GroupVersionKind) *resource {
	for _, r := range resources {
		if r.GroupVersionKind == gvk {
			return r
		}
	}
	return nil
}
