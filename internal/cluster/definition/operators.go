package definition

import (
	"slices"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// applyOperators sets the operators of a cluster: the named operators, the operators of the chosen bundles, and their dependencies. An
// absent field leaves its part unchanged; dependencies are always resolved again, because they depend on other settings.
func applyOperators(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	asked := operators.Asked(c.OLMOperators)
	if p.OlmOperators != nil {
		asked = asked[:0:0]
		for _, o := range *p.OlmOperators {
			if deref(o.Name) == "" {
				return model.Invalidf("olm_operators: the name of an operator is required")
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
