package programs

import (
	"fmt"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// RoleLabel is how a kubelet reports its role: it may not set node-role.kubernetes.io
// itself; who stands in for the operators does.
const RoleLabel = "node.kubernetes.io/bench-role"

// CRISocket is where the container runtime listens.
const CRISocket = "unix:///run/bench-cri.sock"

// Kubelet runs the node.
func (h *Host) Kubelet() (Command, error) {
	const etc = "/etc/kubernetes"
	folder := filepath.Join(h.State, "kubelet")
	type object = map[string]any
	config, err := yaml.Marshal(object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"authentication": object{
			"anonymous": object{"enabled": false}, "webhook": object{"enabled": true},
			"x509": object{"clientCAFile": filepath.Join(etc, "clients.crt")},
		},
		"authorization":            object{"mode": "Webhook"},
		"containerRuntimeEndpoint": CRISocket,
		"serverTLSBootstrap":       true, "rotateCertificates": true,
		// Containers are plain processes here: nothing of them is held in control groups.
		"cgroupsPerQOS": false, "enforceNodeAllocatable": []string{}, "cgroupDriver": "cgroupfs", "failCgroupV1": false,
		"failSwapOn": false, "localStorageCapacityIsolation": false, "makeIPTablesUtilChains": false, "kernelMemcgNotification": false,
		"volumeStatsAggPeriod": "-1s", "imageGCHighThresholdPercent": 100, "maxPods": 20, "maxOpenFiles": 4096,
		"evictionHard": object{
			"memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%", "nodefs.inodesFree": "0%",
			"imagefs.inodesFree": "0%", "pid.available": "0%",
		},
		"resolvConf": "", "healthzPort": 0, "readOnlyPort": 0, "oomScoreAdj": -900,
		"syncFrequency": "1m", "nodeStatusUpdateFrequency": "20s", "nodeStatusReportFrequency": "1m", "nodeLeaseDurationSeconds": 240,
		"runtimeRequestTimeout": "5m",
	})
	if err != nil {
		return Command{}, fmt.Errorf("write the configuration of the kubelet: %w", err)
	}
	path := filepath.Join(h.State, "kubelet.yaml")
	return Command{Argv: []string{
		h.program("kubelet"), "--config=" + path, "--root-dir=" + folder, "--cert-dir=" + filepath.Join(folder, "pki"),
		"--bootstrap-kubeconfig=" + filepath.Join(etc, "bootstrap-kubeconfig"), "--kubeconfig=" + filepath.Join(folder, "kubeconfig"),
		"--node-ip=" + h.Address.Addr().
			String(),
		"--hostname-override=" + h.Name, "--node-labels=" + RoleLabel + "=" + h.Role, "--housekeeping-interval=60s", "--v=0",
	}, Files: map[string][]byte{path: config}}, nil
}

// Runtime runs the container runtime of the bench.
func (h *Host) Runtime(config string) Command {
	return Command{
		Argv: []string{h.program("bench-cri"), "--listen", CRISocket, "--config", config, "--root", filepath.Join(h.State, "cri")},
	}
}
