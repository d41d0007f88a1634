package operators

import (
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var nvidiaGPU = Operator{
	Name: "nvidia-gpu", Title: "NVIDIA GPU",
	Description: "Makes NVIDIA GPUs usable for workloads.",
	Feature:     openshift.FeatureNvidiaGPU,
	Subscription: Subscription{
		Namespace: "nvidia-gpu-operator", Name: "gpu-operator-certified", Source: certifiedOperators,
		Channel: "stable", Group: "nvidia-gpu-operator", OwnNamespace: true,
	},
	Timeout:      usualTimeout,
	Dependencies: []string{"node-feature-discovery"},
	host: func(_ *Plan, h *model.Host) Result {
		// The driver is built on the node and not signed with a key the firmware trusts.
		if gpusOf(h, vendorNVIDIA) > 0 && h.Inventory.Boot.SecureBootState == wire.SecureBootStateEnabled {
			return failure("NVIDIA GPU: require secure boot to be disabled on hosts with such a GPU, found it enabled")
		}
		return success("The host meets what NVIDIA GPU requires")
	},
	cluster: func(p *Plan) Result {
		return p.requireGPU("NVIDIA GPU", vendorNVIDIA, p.options.NVIDIARequireGPU)
	},
}

// requireGPU requires a GPU of a vendor on at least one host, where it is required.
func (p *Plan) requireGPU(title, vendor string, required bool) Result {
	switch {
	case !required || p.anyGPU(vendor):
		return success("The cluster meets what %s requires", title)
	case len(p.hosts) == 0 || p.waiting > 0:
		return pending("%s: require at least one host with a GPU of PCI vendor %s, found none yet", title, vendor)
	}
	return failure("%s: require at least one host with a GPU of PCI vendor %s, found none on %d hosts", title, vendor, len(p.hosts))
}
