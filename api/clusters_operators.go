package api

import (
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

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

// operatorsToWire lists the monitored operators of a cluster with the origin of each.
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
