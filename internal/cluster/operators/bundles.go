package operators

import (
	"slices"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// Bundle is a set of operators chosen together.
type Bundle struct {
	ID, Title, Description string
	Operators              []string // sorted
	Optional               []string // operators it can bring besides, sorted
}

// bundle is a Bundle with the replacements on a single node for operators that need several nodes; empty: no replacement.
type bundle struct {
	Bundle
	single map[string]string
}

// bundles follow docs/reference/operator-rules.md, "Operators and bundles".
var bundles = []bundle{
	{
		Bundle: Bundle{
			ID: "virtualization", Title: "Virtualization",
			Description: "Runs virtual machines beside containers, with what it takes to move, watch, back up and protect them.",
			Operators: []string{
				"cluster-observability", "cnv", "fence-agents-remediation", "kube-descheduler", "loki", "metallb", "mtv", "nmstate",
				"node-healthcheck", "node-maintenance", "numaresources", "oadp", "openshift-logging",
			},
		},
		single: map[string]string{"fence-agents-remediation": "", "kube-descheduler": "", "node-healthcheck": "", "node-maintenance": ""},
	},
	{
		Bundle: Bundle{
			ID: "openshift-ai", Title: "OpenShift AI",
			Description: "Trains and serves models, with the storage, pipelines and networking it builds on.",
			Operators:   []string{"authorino", "odf", "openshift-ai", "pipelines", "serverless", "servicemesh"},
			Optional:    []string{"amd-gpu", "nvidia-gpu"},
		},
		// Serving of models, which the other operators support, is off on a single node.
		single: map[string]string{"authorino": "", "odf": "lvm", "pipelines": "", "serverless": "", "servicemesh": ""},
	},
}

// Bundles lists the bundles whose operators can all be used in a setting, as clusters of
// several nodes or single nodes have them. The error is a model.ErrInvalid.
func Bundles(s features.Setting, singleNode bool) ([]Bundle, error) {
	if err := features.CheckPlatform(s); err != nil {
		return nil, err
	}
	list, err := Features.Detailed(s)
	if err != nil {
		return nil, err
	}
	usable := map[string]bool{}
	for _, f := range list {
		usable[f.Operator] = f.Reason == ""
	}
	out := []Bundle{}
	for i := range bundles {
		b := bundles[i].in(singleNode)
		if !slices.ContainsFunc(b.Operators, func(name string) bool { return !usable[name] }) {
			out = append(out, b)
		}
	}
	return out, nil
}

// FindBundle looks a bundle up; the error is a model.ErrNotFound.
func FindBundle(id string, singleNode bool) (Bundle, error) {
	for i := range bundles {
		if bundles[i].ID == id {
			return bundles[i].in(singleNode), nil
		}
	}
	return Bundle{}, model.NotFoundf("bundle %q is not available", id)
}

// BundlesOf lists the bundles an operator is in, for a cluster of several nodes or one.
func BundlesOf(operator string, singleNode bool) []string {
	out := []string{}
	for i := range bundles {
		b := bundles[i].in(singleNode)
		if slices.Contains(b.Operators, operator) || slices.Contains(b.Optional, operator) {
			out = append(out, b.ID)
		}
	}
	return out
}

func (b *bundle) in(singleNode bool) Bundle {
	out := b.Bundle
	out.Operators, out.Optional = nil, slices.Clone(b.Optional)
	for _, name := range b.Operators {
		if instead, differs := b.single[name]; differs && singleNode {
			name = instead
		}
		if name != "" {
			out.Operators = append(out.Operators, name)
		}
	}
	slices.Sort(out.Operators)
	return out
}
