package operators

import "slipway/internal/cluster/openshift"

var amdGPU = Operator{
	Name: "amd-gpu", Title: "AMD GPU",
	Description:  "Makes AMD GPUs usable for workloads.",
	Feature:      openshift.FeatureAMDGPU,
	Subscription: Subscription{Namespace: "openshift-amd-gpu", Name: "amd-gpu-operator", Source: certifiedOperators},
	Timeout:      usualTimeout,
	Dependencies: []string{"node-feature-discovery", "kmm"},
	cluster: func(p *Plan) Result {
		return p.requireGPU("AMD GPU", vendorAMD, p.options.AMDRequireGPU)
	},
}
