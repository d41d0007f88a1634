package validation

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// HostRule is one rule of the host table.
type HostRule struct {
	ID       wire.HostValidationID
	Category string
	// Why is the consequence for a host that breaks the rule.
	Why string
	// Unbound rules are evaluated for hosts without a cluster too.
	Unbound bool
	// HiddenIn are the stages in which the rule is not evaluated, because its data is not collected any more;
	// HiddenOnceStaged hides it from the first stage on.
	HiddenIn         []model.Stage
	HiddenOnceStaged bool

	check func(*hostCase) verdict
}

// Host evaluates every rule for one host, in the order of the table. Rules that do not apply to the host are
// left out: an absent rule passes. Rules that are disabled, by the deployment or by the cluster, are not
// evaluated and shown as disabled.
func Host(facts HostFacts) []model.ValidationResult {
	c := newHostCase(facts)
	off := hostsOff(facts.Cluster, facts.Options)
	out := make([]model.ValidationResult, 0, len(hostRules))
	for i := range hostRules {
		r := &hostRules[i]
		if r.hidden(facts.Host) || facts.Cluster == nil && !r.Unbound {
			continue
		}
		out = off.evaluate(out, string(r.ID), r.Category, func() verdict { return r.check(c) })
	}
	return out
}

// HostRules returns the host table, for documentation and tests.
func HostRules() []HostRule { return slices.Clone(hostRules) }

func (r *HostRule) hidden(h *model.Host) bool {
	return r.HiddenOnceStaged && h.Stage != "" || slices.Contains(r.HiddenIn, h.Stage)
}

// ClusterRule is one rule of the cluster table.
type ClusterRule struct {
	ID       wire.ClusterValidationID
	Category string
	// Why is the consequence for a cluster that breaks the rule.
	Why string

	check func(*clusterCase) verdict
}

// Cluster evaluates every rule for a cluster. Results are ordered by category and id, as clients expect them; disabled rules are marked
// as such.
func Cluster(facts ClusterFacts) []model.ValidationResult {
	c := newClusterCase(facts)
	off := clustersOff(facts.Cluster, facts.Options)
	out := make([]model.ValidationResult, 0, len(clusterRules))
	for i := range clusterRules {
		r := &clusterRules[i]
		out = off.evaluate(out, string(r.ID), r.Category, func() verdict { return r.check(c) })
	}
	return out
}

// ClusterRules returns the cluster table, for documentation and tests.
func ClusterRules() []ClusterRule { return slices.Clone(clusterRules) }
