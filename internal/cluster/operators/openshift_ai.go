package operators

import (
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

const aiTitle = "OpenShift AI"

// aiWorkers is how many workers models are trained and served on.
const aiWorkers = 2

var openshiftAI = Operator{
	Name: "openshift-ai", Title: aiTitle,
	Description: "Trains and serves models.",
	Feature:     openshift.FeatureOpenShiftAI,
	Subscription: Subscription{
		Namespace: "redhat-ods-operator", Name: "rhods-operator",
		Channel: "stable", Group: "rhods-operator",
	},
	Timeout: usualTimeout,
	Needs:   Needs{Worker: Need{CPUCores: 8, RAMMiB: 32 << 10}},
	brings: func(c *model.Cluster) []string {
		if c.SingleNode() {
			return []string{"lvm"}
		}
		return nil
	},
	cluster: func(p *Plan) Result {
		switch {
		case !p.chosen["odf"] && !p.chosen["lvm"]:
			return failure(aiTitle + ": require " + odfTitle + " or " + lvmTitle + " with it, found neither")
		case !p.singleNode() && p.workers < aiWorkers:
			return failure(aiTitle+": require at least %d workers, found %d", aiWorkers, p.workers)
		}
		return success("The cluster meets what " + aiTitle + " requires")
	},
}

// ValidateAIGPU reports whether OpenShift AI finds a GPU: the validation
// openshift-ai-gpu-requirements-satisfied, which blocks nothing. The second value is false
// where OpenShift AI is not installed.
func (p *Plan) ValidateAIGPU() (Result, bool) {
	switch {
	case !p.chosen["openshift-ai"]:
		return Result{}, false
	case p.anyGPU(vendorNVIDIA, vendorAMD):
		return success(aiTitle + " finds a GPU"), true
	case len(p.hosts) == 0 || p.waiting > 0:
		return pending(aiTitle + " works best with at least one NVIDIA or AMD GPU, found none yet"), true
	}
	return failure(aiTitle+" works best with at least one NVIDIA or AMD GPU, found none on %d hosts", len(p.hosts)), true
}
