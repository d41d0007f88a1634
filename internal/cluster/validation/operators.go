package validation

import (
	"cmp"
	"slices"

	"slipway/internal/cluster/operators"
	"slipway/internal/wire"
)

// hostRules are all rules of hosts: the operators' rules last, by id.
var hostRules = slices.Concat(hostTable, operatorHostRules())

// clusterRules are all rules of clusters; the category of the operators is the last.
var clusterRules = slices.Concat(clusterTable, operatorClusterRules())

func operatorHostRules() []HostRule {
	var out []HostRule
	for _, o := range operators.All() {
		out = append(out, HostRule{
			ID: wire.HostValidationID(o.RuleID()), Category: CategoryOperators,
			Why:   "the part of " + o.Title + " that runs on the host needs it",
			check: func(c *hostCase) verdict { return verdictOf(c.Peers.operators.ValidateHost(o, c.Host)) },
		})
	}
	slices.SortFunc(out, func(a, b HostRule) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func operatorClusterRules() []ClusterRule {
	out := []ClusterRule{{
		ID: wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied, Category: CategoryOperators, check: gpuForAI,
		Why: "models run slowly without a GPU; advice only",
	}}
	for _, o := range operators.All() {
		out = append(out, ClusterRule{
			ID: wire.ClusterValidationID(o.RuleID()), Category: CategoryOperators,
			Why:   o.Title + " would not become available in the new cluster",
			check: func(c *clusterCase) verdict { return verdictOf(c.operators.ValidateCluster(o)) },
		})
	}
	slices.SortFunc(out, func(a, b ClusterRule) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func gpuForAI(c *clusterCase) verdict {
	result, relevant := c.operators.ValidateAIGPU()
	if !relevant {
		return irrelevant()
	}
	return verdictOf(result)
}

func verdictOf(r operators.Result) verdict { return verdict{status: r.Status, message: r.Message} }
