package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/cluster/openshift"
)

// Annotations of BareMetalHosts (metal3-io/baremetal-operator, apis/metal3.io/v1alpha1). openshift-install pauses
// the hosts of the control plane; the service describes what hosts are in the second.
const (
	pausedAnnotation   = "baremetalhost.metal3.io/paused"
	hardwareAnnotation = "baremetalhost.metal3.io/status"
)

// roleLabel is the role of a Machine (openshift/api, machine/v1beta1).
const roleLabel = "machine.openshift.io/cluster-api-machine-role"

// Metal is the state that the platform baremetal has of its hosts.
type Metal struct {
	// Provisioned: the bare metal operator has a configuration of its own (Provisioning).
	Provisioned bool
	// Hosts are BareMetalHosts, Machines the Machines of the cluster.
	Hosts, Machines []unstructured.Unstructured
}

// UpdateBareMetalHost writes a BareMetalHost as it should be.
type UpdateBareMetalHost struct{ Object *unstructured.Unstructured }

// SetHardware writes the status of a BareMetalHost that nothing inspects: the one in its annotation.
type SetHardware struct {
	Host   *unstructured.Unstructured
	Status string // JSON
}

// missingMetal frees hosts that the installer paused and gives each worker's host a Machine, as
// openshift/assisted-installer does (src/assisted_installer_controller, UpdateBMHs). A host that needs a Machine
// waits until there is one: the MachineSet of workers makes them late.
func missingMetal(s State) []Action {
	if s.Metal == nil {
		return nil
	}
	var actions []Action
	free := freeMachines(s.Metal)
	for i := range s.Metal.Hosts {
		host := s.Metal.Hosts[i].DeepCopy()
		needsMachine := !hasConsumer(host)
		if needsMachine && len(free) == 0 {
			continue
		}
		if status := statusToSet(host, s.Metal.Provisioned); status != "" {
			actions = append(actions, SetHardware{Host: host, Status: status})
			continue // the rest follows with the new resource version
		}
		changed := freeHost(host, s.Metal.Provisioned)
		if needsMachine {
			setConsumer(host, &free[0])
			free, changed = free[1:], true
		}
		if changed {
			actions = append(actions, UpdateBareMetalHost{Object: host})
		}
	}
	return actions
}

// statusToSet returns the status in the annotation of a host that has none and that no operator will write.
func statusToSet(host *unstructured.Unstructured, provisioned bool) string {
	if _, inspected, _ := unstructured.NestedMap(host.Object, "status", "hardware"); inspected || provisioned {
		return ""
	}
	return host.GetAnnotations()[hardwareAnnotation]
}

// freeHost lets the bare metal operator have the host, or, without it, removes the annotation that the status came
// from. It reports whether anything changed.
func freeHost(host *unstructured.Unstructured, provisioned bool) bool {
	annotations := host.GetAnnotations()
	if !provisioned {
		_, described := annotations[hardwareAnnotation]
		delete(annotations, hardwareAnnotation)
		host.SetAnnotations(annotations)
		return described
	}
	state, _, _ := unstructured.NestedString(host.Object, "status", "provisioning", "state")
	if state != "" && state != "unmanaged" {
		return false
	}
	external, _, _ := unstructured.NestedBool(host.Object, "spec", "externallyProvisioned")
	_, paused := annotations[pausedAnnotation]
	delete(annotations, pausedAnnotation)
	host.SetAnnotations(annotations)
	_ = unstructured.SetNestedField(host.Object, true, "spec", "externallyProvisioned") // spec is an object: it was just read
	return paused || !external
}

func hasConsumer(host *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(host.Object, "spec", "consumerRef", "name")
	return name != ""
}

func setConsumer(host, machine *unstructured.Unstructured) {
	_ = unstructured.SetNestedMap(host.Object, map[string]any{
		"apiVersion": machine.GetAPIVersion(), "kind": "Machine", "name": machine.GetName(), "namespace": machine.GetNamespace(),
	}, "spec", "consumerRef")
}

// freeMachines lists the Machines of workers that no host refers to.
func freeMachines(m *Metal) []unstructured.Unstructured {
	taken := map[string]bool{}
	for i := range m.Hosts {
		name, _, _ := unstructured.NestedString(m.Hosts[i].Object, "spec", "consumerRef", "name")
		taken[name] = true
	}
	return slices.DeleteFunc(slices.Clone(m.Machines), func(machine unstructured.Unstructured) bool {
		return machine.GetLabels()[roleLabel] != "worker" || taken[machine.GetName()] || machine.GetDeletionTimestamp() != nil
	})
}

// RemoveTaint removes a taint of a node.
type RemoveTaint struct {
	Node string
	// Index is its place in the node's taints.
	Index int
	Taint corev1.Taint
}

// missingUntaints removes the taint where no cloud controller can.
func missingUntaints(s State) []Action {
	if !s.Cluster.WithoutCloud {
		return nil
	}
	var actions []Action
	for _, node := range s.Nodes {
		for i, taint := range node.Spec.Taints {
			if taint.Key == openshift.UninitializedTaint {
				actions = append(actions, RemoveTaint{Node: node.Name, Index: i, Taint: taint})
			}
		}
	}
	return actions
}
