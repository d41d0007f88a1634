package standin

import (
	"fmt"
	"strconv"
)

const machineNamespace = "openshift-machine-api"

// Names of the manifests of machines (openshift/installer, pkg/asset/machines: master.go, worker.go, arbiter.go).
const (
	masterMachine   = "openshift/99_openshift-cluster-api_master-machines-%s.yaml"
	arbiterMachine  = "openshift/99_openshift-cluster-api_arbiter-machines-%s.yaml"
	workerSet       = "openshift/99_openshift-cluster-api_worker-machineset-%s.yaml"
	controlPlaneSet = "openshift/99_openshift-machine-api_master-control-plane-machine-set.yaml"
	metalHost       = "openshift/99_openshift-cluster-api_hosts-%s.yaml"
	metalSecret     = "openshift/99_openshift-cluster-api_host-bmc-secrets-%s.yaml"
	arbiterHost     = "openshift/99_openshift-cluster-api_arbiter_hosts-%s.yaml"
	arbiterSecret   = "openshift/99_openshift-cluster-api_arbiter_host-bmc-secrets-%s.yaml"
)

// machines adds what the machine API of the platform manages. The platforms none and external have none of it.
func (s *state) machines(all map[string]object) {
	if !s.Config.enabled("MachineAPI") {
		return
	}
	switch p := s.Config.Platform; {
	case p.BareMetal != nil:
		s.metalMachines(all)
	case p.VSphere != nil:
		s.virtualMachines(all, "VSphereMachineProviderSpec", s.Minor >= 15)
		all["openshift/99_cloud-creds-secret.yaml"] = kube("v1", "Secret", "kube-system", "vsphere-creds", object{"data": object{}})
		all["openshift/99_role-cloud-creds-secret-reader.yaml"] = kube("rbac.authorization.k8s.io/v1", "Role", "kube-system",
			"vsphere-creds-secret-reader", nil)
	case p.Nutanix != nil:
		s.virtualMachines(all, "NutanixMachineProviderConfig", true)
	}
}

// virtualMachines adds machines that the platform makes: a control plane of the installer's own count, and a set of workers. With a set
// of the control plane its operator counts how many of them have become nodes.
func (s *state) virtualMachines(all map[string]object, provider string, controlPlane bool) {
	spec := object{"providerSpec": object{"value": object{"kind": provider}}}
	masters := s.Config.ControlPlane.Replicas
	for i := range masters {
		all[fmt.Sprintf(masterMachine, numbered(i, masters))] = kube("machine.openshift.io/v1beta1", "Machine", machineNamespace,
			fmt.Sprintf("%s-master-%d", s.InfraID, i), object{"spec": spec})
	}
	all[fmt.Sprintf(workerSet, "0")] = kube("machine.openshift.io/v1beta1", "MachineSet", machineNamespace, s.InfraID+"-worker-0", object{
		"spec": object{"replicas": s.Config.Compute[0].Replicas, "template": object{"spec": spec}},
	})
	if controlPlane {
		all[controlPlaneSet] = kube("machine.openshift.io/v1", "ControlPlaneMachineSet", machineNamespace, "cluster", object{
			"spec": object{"replicas": masters, "state": "Active", "template": object{"machineType": "machines_v1beta1_machine_openshift_io"}},
		})
	}
}

// metalMachines adds the hosts of the bare metal operator. Masters and arbiters have a Machine each, and are paused until their hardware
// is known; workers get theirs from a set.
func (s *state) metalMachines(all map[string]object) {
	all["openshift/99_baremetal-provisioning-config.yaml"] = kube("metal3.io/v1alpha1", "Provisioning", "", "provisioning-configuration",
		object{"spec": object{"provisioningNetwork": s.Config.Platform.BareMetal.ProvisioningNetwork}})
	counts := map[string]int{}
	hosts := s.Config.Platform.BareMetal.Hosts
	for _, m := range hosts {
		hostName, secretName, machineName, role := metalHost, metalSecret, masterMachine, m.Role
		list := "hosts"
		if role == "arbiter" {
			hostName, secretName, machineName, list = arbiterHost, arbiterSecret, arbiterMachine, "arbiters"
		}
		n := numbered(counts[list], len(hosts))
		host := kube("metal3.io/v1alpha1", "BareMetalHost", machineNamespace, m.Name, object{"spec": object{
			"bmc":            object{"address": "", "credentialsName": m.Name + "-bmc-secret"},
			"bootMACAddress": m.BootMACAddress,
			"bootMode":       m.BootMode,
			"online":         true,
		}})
		if role != "worker" {
			machine := fmt.Sprintf("%s-%s-%d", s.InfraID, role, counts[role])
			metadata, _ := host["metadata"].(object)
			metadata["annotations"] = object{"baremetalhost.metal3.io/paused": ""}
			metadata["labels"] = object{"installer.openshift.io/role": "control-plane"}
			spec, _ := host["spec"].(object)
			spec["consumerRef"] = object{
				"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "namespace": machineNamespace, "name": machine,
			}
			all[fmt.Sprintf(machineName, numbered(counts[role], s.Config.ControlPlane.Replicas))] = kube(
				"machine.openshift.io/v1beta1", "Machine", machineNamespace, machine,
				object{"spec": object{"providerSpec": object{"value": object{"kind": "BareMetalMachineProviderSpec"}}}})
			counts[role]++
		}
		all[fmt.Sprintf(hostName, n)] = host
		if address, _ := m.BMC["address"].(string); address != "" {
			all[fmt.Sprintf(secretName, n)] = kube("v1", "Secret", machineNamespace, m.Name+"-bmc-secret", object{"type": "Opaque"})
		}
		counts[list]++
	}
	all[fmt.Sprintf(workerSet, "0")] = kube("machine.openshift.io/v1beta1", "MachineSet", machineNamespace, s.InfraID+"-worker-0", object{
		"spec": object{"replicas": s.Config.Compute[0].Replicas},
	})
}

// numbered prints the index of one of count, as wide as the largest of them.
func numbered(index, count int) string {
	return fmt.Sprintf("%0*d", len(strconv.Itoa(max(count-1, 0))), index)
}
