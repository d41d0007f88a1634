package standin

import "fmt"

// clusterAPI returns the objects that the program would create machines with, by path. No command consumes them
// (openshift/installer, pkg/asset/manifests/clusterapi, pkg/asset/machines/clusterapi.go; since 4.16).
func (s *state) clusterAPI() map[string]object {
	const guests = "openshift-cluster-api-guests"
	namespace := kube("v1", "Namespace", "", guests, nil)
	virtual := s.Config.Platform.VSphere != nil || s.Config.Platform.Nutanix != nil
	switch {
	case s.Minor < 16:
		return nil
	case !virtual:
		return map[string]object{"000_capi-namespace.yaml": namespace}
	}
	all := map[string]object{
		"cluster-api/000_capi-namespace.yaml": namespace,
		"cluster-api/01_capi-cluster-0.yaml":  kube("cluster.x-k8s.io/v1beta1", "Cluster", guests, s.InfraID, nil),
	}
	if s.Config.Platform.VSphere != nil {
		const group = "infrastructure.cluster.x-k8s.io/v1beta1"
		all["cluster-api/01_vsphere-cluster-0.yaml"] = kube(group, "VSphereCluster", guests, s.InfraID, nil)
		all["cluster-api/01_vsphere-creds-0.yaml"] = kube("v1", "Secret", guests, "vsphere-creds-0", object{"data": object{}})
		return all // its machines need an answer of vCenter
	}
	const group = "infrastructure.cluster.x-k8s.io/v1beta1"
	all["cluster-api/01_nutanix-cluster.yaml"] = kube(group, "NutanixCluster", guests, s.InfraID, nil)
	all["cluster-api/01_nutanix-creds.yaml"] = kube("v1", "Secret", guests, s.InfraID, object{"data": object{}})
	names := []string{s.InfraID + "-bootstrap"}
	for i := range s.Config.ControlPlane.Replicas {
		names = append(names, fmt.Sprintf("%s-master-%d", s.InfraID, i))
	}
	for _, name := range names {
		all["cluster-api/machines/10_inframachine_"+name+".yaml"] = kube(group, "NutanixMachine", guests, name, nil)
		all["cluster-api/machines/10_machine_"+name+".yaml"] = kube("cluster.x-k8s.io/v1beta1", "Machine", guests, name, nil)
	}
	return all
}
