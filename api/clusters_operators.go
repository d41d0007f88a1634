package api

import (
	"slices"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// applyOperators sets the operators that are installed with a cluster: those named,
// those of the bundles chosen, and what they need. A field that is absent leaves its
// part as it was; the rest is worked out anew, for it depends on the other settings.
func applyOperators(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	asked := operators.Asked(c.OLMOperators)
	if p.OlmOperators != nil {
		asked = asked[:0:0]
		for _, o := range *p.OlmOperators {
			if deref(o.Name) == "" {
				return model.Invalidf("olm_operators: require the name of an operator, found none")
			}
			if !slices.ContainsFunc(asked, func(have model.OLMOperator) bool { return have.Name == *o.Name }) {
				asked = append(asked, model.OLMOperator{Name: *o.Name, Properties: deref(o.Properties)})
			}
		}
	}
	if p.OperatorBundles != nil {
		c.OperatorBundles = nil
		for _, b := range *p.OperatorBundles {
			if !slices.ContainsFunc(c.OperatorBundles, func(have model.OperatorBundle) bool { return have.ID == b.ID }) {
				c.OperatorBundles = append(c.OperatorBundles, model.OperatorBundle{ID: b.ID, Optional: deref(b.OptionalOperators)})
			}
		}
	}
	var err error
	c.OLMOperators, err = operators.Resolve(asked, c.OperatorBundles, c)
	return err
}

// monitor writes the operators that the installation of a cluster waits for, and
// forgets those that are not chosen any more. Only the console counts from the
// beginning; the cluster version joins it when an installation begins.
func monitor(tx *store.Tx, c *model.Cluster) {
	tx.Operators(operators.Builtin(c, false)...)
	chosen := operators.Monitored(c)
	tx.Operators(chosen...)
	names := make([]string, len(chosen))
	for i, o := range chosen {
		names[i] = o.Name
	}
	tx.DropOperators(c.ID, operators.TypeOLM, names)
}

// operatorsToWire are the monitored operators of a cluster with where each came from.
func operatorsToWire(c *model.Cluster, list []model.MonitoredOperator) []wire.MonitoredOperator {
	out := make([]wire.MonitoredOperator, len(list))
	for i, o := range list {
		out[i] = operatorToWire(o)
		out[i].Bundles, out[i].SourceBundles, out[i].DependencyOnly = operators.Origin(c, o.Name)
	}
	return out
}

func chosenBundles(c *model.Cluster) []wire.BundleCreateParams {
	out := make([]wire.BundleCreateParams, len(c.OperatorBundles))
	for i, b := range c.OperatorBundles {
		out[i] = wire.BundleCreateParams{ID: b.ID}
		if len(b.Optional) > 0 {
			out[i].OptionalOperators = &b.Optional
		}
	}
	return out
}
