package operators

import (
	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

const aiTitle = "OpenShift AI"

// aiWorkers is how many workers models are trained and served on.
const aiWorkers = 2

var openshiftAI = Operator{
	Name: "openshift-ai", Title: aiTitle,
	Description: "Trains and serves models.",
	Feature: features.Row{
		ID:    features.OpenShiftAI,
		Level: features.LevelDevPreview,
		Limits: []features.Limit{
			features.NotOn(model.ARM64, model.PPC64LE, model.S390X), features.Since("4.12"), features.NotFor(features.ExternalOCI),
		},
		Excludes: features.Never(features.ExternalOCI),
	},
	Subscription: Subscription{
		Namespace: "redhat-ods-operator", Name: "rhods-operator",
		Channel: "stable", Group: "rhods-operator",
	},
	Timeout:      usualTimeout,
	onSingleNode: []string{"lvm"},
	Needs:        Needs{Worker: Need{CPUCores: 8, RAMMiB: 32 << 10}},
	ownNeed:      true,
	cluster: func(p *Plan) Result {
		if !p.singleNode() && p.workers < aiWorkers {
			return failure(aiTitle+": require at least %d workers, found %d", aiWorkers, p.workers)
		}
		return success("The cluster meets what " + aiTitle + " requires")
	},
}

// ValidateAIGPU advises on GPUs for OpenShift AI: the validation openshift-ai-gpu-requirements-satisfied, which always
// passes. Whether there is a GPU is checked by the operators for GPUs. The second value is false where OpenShift AI is
// not installed.
func (p *Plan) ValidateAIGPU() (Result, bool) {
	switch {
	case !p.chosen["openshift-ai"]:
		return Result{}, false
	case !p.chosen["nvidia-gpu"] && !p.chosen["amd-gpu"]:
		return success(aiTitle + " works without GPUs; to use them, choose nvidia-gpu or amd-gpu with it, found neither"), true
	}
	return success(aiTitle + " can use the GPUs"), true
}
