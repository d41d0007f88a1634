package operators_test

import "testing"

// prometheusRole lists what Prometheus of the platform may read in a namespace.
func prometheusRole(namespace string) []field {
	name := namespace + "-prometheus-k8s"
	return []field{
		{"Role/" + name, "metadata.namespace", namespace},
		{"Role/" + name, "rules", `[{apiGroups: [""], resources: [services, endpoints, pods], verbs: [get, list, watch]}]`},
		{"RoleBinding/" + name, "metadata.namespace", namespace},
		{"RoleBinding/" + name, "roleRef", "{apiGroup: rbac.authorization.k8s.io, kind: Role, name: " + name + "}"},
		{"RoleBinding/" + name, "subjects", "[{kind: ServiceAccount, name: prometheus-k8s, namespace: openshift-monitoring}]"},
	}
}

const roleLabel = "machineconfiguration.openshift.io/role"

// kernelArgument lists the fields of a MachineConfig that adds one argument to nodes of a role.
func kernelArgument(name, role, argument string) []field {
	return []field{
		{"MachineConfig/" + name, "metadata.labels", "{" + roleLabel + ": " + role + "}"},
		{"MachineConfig/" + name, "spec", "{kernelArguments: [" + argument + "]}"},
	}
}

func amdModule(name, role string) []field {
	return []field{
		{"MachineConfig/" + name, "metadata.labels", "{" + roleLabel + ": " + role + "}"},
		{"MachineConfig/" + name, "spec.config.ignition.version", "3.2.0"},
		{"MachineConfig/" + name, "spec.config.storage.files", `
- path: /etc/modprobe.d/amdgpu-blacklist.conf
  mode: 420
  overwrite: true
  contents: {source: "data:text/plain;charset=utf-8;base64,YmxhY2tsaXN0IGFtZGdwdQo="}`},
	}
}

func join(lists ...[]field) (out []field) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var dayOneCases = []renderCase{
	{"lets Prometheus in", []string{"lso"}, nil, prometheusRole("openshift-local-storage")},
	{"lets Prometheus in", []string{"numaresources"}, nil, prometheusRole("openshift-numaresources")},
	{"lets Prometheus in and keeps the kernel's own module out", []string{"amd-gpu"}, nil, join(
		prometheusRole("openshift-amd-gpu"),
		amdModule("99-amdgpu-module-blacklist-worker", "worker"), amdModule("99-amdgpu-module-blacklist-master", "master"),
	)},
	{"counts what the scheduler does", []string{"cnv"}, nil, join(
		kernelArgument("50-workers-enable-schedstats", "worker", "schedstats=enable"),
		kernelArgument("50-masters-enable-schedstats", "master", "schedstats=enable"),
		[]field{{"StorageClass/sno-storage", "-", ""}},
	)},
	{"leaves the disks of a single node alone", []string{"cnv"}, (*fixture).single, []field{
		{"StorageClass/sno-storage", "-", ""},
		{"MachineConfig/50-master-virtual-machine-volumes", "-", ""},
		{"MachineConfig/50-masters-enable-schedstats", "", ""},
	}},
	{"has a storage class on an old single node", []string{"cnv"}, func(w *fixture) { w.single(); w.version("4.10.3") }, []field{
		{"StorageClass/sno-storage", "metadata.annotations", `{storageclass.kubernetes.io/is-default-class: "true"}`},
		{"StorageClass/sno-storage", "provisioner", "kubevirt.io.hostpath-provisioner"},
		{"StorageClass/sno-storage", "reclaimPolicy", "Delete"},
		{"StorageClass/sno-storage", "volumeBindingMode", "Immediate"},
		{"StorageClass/sno-storage", "parameters", "{storagePool: sno}"},
	}},
	{"has none of old single nodes from 4.12", []string{"cnv"}, func(w *fixture) { w.single(); w.version("4.12.0") }, []field{
		{"StorageClass/sno-storage", "-", ""},
	}},
	{"measures pressure with virtual machines from 4.18", []string{"kube-descheduler", "cnv"}, at("4.18.0"), join(
		kernelArgument("99-openshift-machineconfig-worker-psi-karg", "worker", "psi=1"),
		kernelArgument("99-openshift-machineconfig-master-psi-karg", "master", "psi=1"),
	)},
	{"measures no pressure before 4.18", []string{"kube-descheduler", "cnv"}, at("4.17.8"), []field{
		{"MachineConfig/99-openshift-machineconfig-worker-psi-karg", "-", ""},
	}},
	{"measures no pressure without virtual machines", []string{"kube-descheduler"}, nil, []field{
		{"MachineConfig/99-openshift-machineconfig-worker-psi-karg", "-", ""},
	}},
}

func TestManifestsOfDayOne(t *testing.T) {
	t.Parallel()
	runRenderCases(t, dayOneCases, func(day1, _ rendered) rendered { return day1 })
}
