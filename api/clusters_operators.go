package api

import (
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
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
