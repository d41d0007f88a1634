package operators

import (
	"slices"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var nvidiaGPU = Operator{
	Name: "nvidia-gpu", Title: "NVIDIA GPU",
	Description: "Makes NVIDIA GPUs usable for workloads.",
	Feature: features.Row{
		ID:     "NVIDIA_GPU",
		Level:  features.LevelDevPreview,
		Limits: []features.Limit{features.NotOn(model.ARM64, model.PPC64LE, model.S390X)},
	},
	Subscription: Subscription{
		Namespace: "nvidia-gpu-operator", Name: "gpu-operator-certified", Source: certifiedOperators,
		Channel: "stable", Group: "nvidia-gpu-operator", OwnNamespace: true,
	},
	Timeout:      usualTimeout,
	Dependencies: []string{"node-feature-discovery"},
	host: func(_ *Plan, h *model.Host) Result {
		return requireUnsigned("NVIDIA GPU", gpuHosts, h, hardware.GPUs(h, hardware.VendorNVIDIA) > 0)
	},
	cluster: func(p *Plan) Result {
		return p.requireGPU("NVIDIA GPU", hardware.VendorNVIDIA, p.options.NVIDIARequireGPU)
	},
}

// gpuHosts are the hosts that a driver is loaded on.
const gpuHosts = "hosts with such a GPU"

// requireGPU requires a GPU of a vendor on at least one host that may run work, where it is required: drivers run as
// pods. A host whose role is left to the service may.
func (p *Plan) requireGPU(title, vendor string, required bool) Result {
	hosts := slices.DeleteFunc(slices.Clone(p.hosts), func(h *model.Host) bool { return !p.takesWork(h.Role) })
	found := slices.ContainsFunc(hosts, func(h *model.Host) bool { return hardware.GPUs(h, vendor) > 0 })
	switch {
	case !required || found:
		return success("The cluster meets what %s requires", title)
	case len(p.hosts) == 0 || p.waiting > 0:
		return pending("%s: require at least one host with a GPU of PCI vendor %s, found none yet", title, vendor)
	}
	return failure(
		"%s: require at least one host with a GPU of PCI vendor %s, found none on the %d hosts that run work", title, vendor, len(hosts))
}

// requireUnsigned requires that secure boot is off where an operator loads modules: modules built on nodes are not signed with a key
// that the firmware trusts.
func requireUnsigned(title, where string, h *model.Host, loads bool) Result {
	if loads && h.Inventory.Boot.SecureBootState == wire.SecureBootStateEnabled {
		return failure("%s: require secure boot to be disabled on %s, found it enabled", title, where)
	}
	return success("The host meets what %s requires", title)
}
