package kubeapi

import "k8s.io/apimachinery/pkg/runtime/schema"

// resource is one kind of object the API serves.
type resource struct {
	schema.GroupVersionKind
	name       string // plural, as in URLs
	namespaced bool
	// hasStatus: the status is written through the status subresource alone.
	hasStatus bool
	// operator is the package of the operator lifecycle manager that brings the kind; empty: it is always there.
	operator string
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

// installationResources lists the kinds that an installation reads or writes, and the kinds users put into manifests most often.
var installationResources = []*resource{
	{kind("", "v1", "Namespace"), "namespaces", cluster, plain, ""},
	{kind("", "v1", "Node"), "nodes", cluster, withStatus, ""},
	{kind("", "v1", "Pod"), "pods", namespaced, withStatus, ""},
	{kind("", "v1", "Service"), "services", namespaced, plain, ""},
	{kind("", "v1", "ConfigMap"), "configmaps", namespaced, plain, ""},
	{kind("", "v1", "Secret"), "secrets", namespaced, plain, ""},
	{kind("", "v1", "ServiceAccount"), "serviceaccounts", namespaced, plain, ""},
	{kind("", "v1", "Event"), "events", namespaced, plain, ""},
	{kind("apps", "v1", "Deployment"), "deployments", namespaced, withStatus, ""},
	{kind("apps", "v1", "DaemonSet"), "daemonsets", namespaced, withStatus, ""},
	{kind("batch", "v1", "Job"), "jobs", namespaced, withStatus, ""},
	{kind("rbac.authorization.k8s.io", "v1", "ClusterRole"), "clusterroles", cluster, plain, ""},
	{kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"), "clusterrolebindings", cluster, plain, ""},
	{kind("rbac.authorization.k8s.io", "v1", "Role"), "roles", namespaced, plain, ""},
	{kind("rbac.authorization.k8s.io", "v1", "RoleBinding"), "rolebindings", namespaced, plain, ""},
	{kind("certificates.k8s.io", "v1", "CertificateSigningRequest"), "certificatesigningrequests", cluster, withStatus, ""},
	{kind("config.openshift.io", "v1", "ClusterVersion"), "clusterversions", cluster, withStatus, ""},
	{kind("config.openshift.io", "v1", "ClusterOperator"), "clusteroperators", cluster, withStatus, ""},
	{kind("config.openshift.io", "v1", "Infrastructure"), "infrastructures", cluster, withStatus, ""},
	{kind("config.openshift.io", "v1", "Proxy"), "proxies", cluster, withStatus, ""},
	{kind("operator.openshift.io", "v1", "Etcd"), "etcds", cluster, withStatus, ""},
	{kind("metal3.io", "v1alpha1", "BareMetalHost"), "baremetalhosts", namespaced, withStatus, ""},
	{kind("metal3.io", "v1alpha1", "Provisioning"), "provisionings", cluster, withStatus, ""},
	{kind("machine.openshift.io", "v1beta1", "Machine"), "machines", namespaced, withStatus, ""},
	{kind("machine.openshift.io", "v1beta1", "MachineSet"), "machinesets", namespaced, withStatus, ""},
	{kind("machine.openshift.io", "v1", "ControlPlaneMachineSet"), "controlplanemachinesets", namespaced, withStatus, ""},
	{kind("route.openshift.io", "v1", "Route"), "routes", namespaced, withStatus, ""},
	{kind("machineconfiguration.openshift.io", "v1", "MachineConfig"), "machineconfigs", cluster, plain, ""},
	{kind("machineconfiguration.openshift.io", "v1", "MachineConfigPool"), "machineconfigpools", cluster, withStatus, ""},
	{kind("operators.coreos.com", "v1", "OperatorGroup"), "operatorgroups", namespaced, withStatus, ""},
	{kind("operators.coreos.com", "v1alpha1", "Subscription"), "subscriptions", namespaced, withStatus, ""},
	{kind("operators.coreos.com", "v1alpha1", "InstallPlan"), "installplans", namespaced, withStatus, ""},
	{kind("operators.coreos.com", "v1alpha1", "ClusterServiceVersion"), "clusterserviceversions", namespaced, withStatus, ""},
	{kind("storage.k8s.io", "v1", "StorageClass"), "storageclasses", cluster, plain, ""},
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
