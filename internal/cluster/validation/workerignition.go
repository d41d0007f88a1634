package validation

import (
	"encoding/json"
	"path"
	"slices"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// workerIgnition is the information on an existing cluster in the configuration of its workers (Ignition 3.2;
// the agent leaves the rest out, docs/reference/agent-protocol.md, "API VIP").
type workerIgnition struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition,omitzero"`
	Storage struct {
		LUKS []struct {
			Clevis struct {
				TPM2 bool         `json:"tpm2,omitempty"`
				Tang []tangServer `json:"tang,omitempty"`
			} `json:"clevis,omitzero"`
		} `json:"luks,omitempty"`
		Files []workerFile `json:"files,omitempty"`
	} `json:"storage"`
	// OSImage is the operating system that the cluster's workers run; Essence takes it from their MachineConfig.
	OSImage string `json:"os_image,omitempty"`
}

type workerFile struct {
	Path string `json:"path"`
}

type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// readWorkerIgnition treats an invalid configuration as an empty one.
func readWorkerIgnition(text string) workerIgnition {
	var out workerIgnition
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return workerIgnition{}
	}
	return out
}

// Essence returns what validations read of the configuration of a cluster's workers, as JSON: which disks are encrypted how, which pods
// move addresses, without their contents, and which operating system they run. The rest is dropped: it holds the bootstrap kubeconfig,
// with which anyone can request the identity of a node.
func Essence(text string) string {
	w := readWorkerIgnition(text)
	w.Storage.Files = slices.DeleteFunc(w.Storage.Files, func(f workerFile) bool { return !slices.Contains(managedFiles, path.Base(f.Path)) })
	w.OSImage = osImage(text)
	out, err := json.Marshal(w)
	if err != nil || text == "" {
		return ""
	}
	return string(out)
}

// EncapsulatedConfig is the file with the MachineConfig of a node, without its Ignition config.
const EncapsulatedConfig = "/etc/ignition-machine-config-encapsulated.json"

// osImage returns the operating system in the MachineConfig of a node's configuration, empty if it has none.
func osImage(config string) string {
	parsed, err := document.Parse([]byte(config))
	if err != nil {
		return ""
	}
	file, err := parsed.File(EncapsulatedConfig)
	if err != nil {
		return ""
	}
	content, err := file.Content()
	if err != nil {
		return ""
	}
	var c struct {
		Spec struct {
			OSImageURL string `json:"osImageURL"`
		} `json:"spec"`
	}
	if json.Unmarshal(content, &c) != nil {
		return ""
	}
	return c.Spec.OSImageURL
}

// WorkerOSImage returns the operating system of the workers of the cluster that a host joins; empty while it is unknown.
func WorkerOSImage(h *model.Host) string {
	if !h.DayTwo() || h.IgnitionDownload == nil {
		return ""
	}
	return readWorkerIgnition(h.IgnitionDownload.Ignition).OSImage
}

// RunsFromDisk reports whether a host was started from a disk, not from a live image.
func RunsFromDisk(h *model.Host) bool {
	return h.Inventory != nil && h.Inventory.Boot.DeviceType == wire.Persistent
}

func (w workerIgnition) tpm2() bool {
	for _, l := range w.Storage.LUKS {
		if l.Clevis.TPM2 {
			return true
		}
	}
	return false
}

func (w workerIgnition) tang() []tangServer {
	var out []tangServer
	for _, l := range w.Storage.LUKS {
		out = append(out, l.Clevis.Tang...)
	}
	return out
}

// managedFiles are the pods that move the virtual addresses and resolve the names of a cluster that manages its
// own networking.
var managedFiles = []string{"coredns.yaml", "keepalived.yaml"}

func (w workerIgnition) managesNetworking() bool {
	for _, f := range w.Storage.Files {
		if slices.Contains(managedFiles, path.Base(f.Path)) {
			return true
		}
	}
	return false
}

// TangServers returns the servers a host must reach for the encryption of its disk, as the JSON list of
// docs/reference/validation-rules.md, "Tang servers of a host": the cluster's servers, or for a host that joins an existing cluster the
// servers of the cluster's workers. It is empty without servers.
func TangServers(c *model.Cluster, h *model.Host) string {
	if h.DayTwo() || c.DayTwo() {
		return WorkerTangServers(h)
	}
	if c.DiskEncryption.Mode != encryptionTang {
		return ""
	}
	if concerned, _ := EncryptionConcerns(c.DiskEncryption.EnableOn, h.EffectiveRole()); !concerned {
		return ""
	}
	return c.DiskEncryption.TangServers
}

// WorkerTangServers returns the servers of the workers of the cluster a host joins.
func WorkerTangServers(h *model.Host) string {
	if h.IgnitionDownload == nil {
		return ""
	}
	servers := readWorkerIgnition(h.IgnitionDownload.Ignition).tang()
	if len(servers) == 0 {
		return ""
	}
	out, err := json.Marshal(servers)
	if err != nil {
		return "" // strings always marshal
	}
	return string(out)
}

func parseTangServers(text string) []tangServer {
	var out []tangServer
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil
	}
	return out
}
