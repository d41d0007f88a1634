package lifecycle

import (
	"maps"

	"slipway/internal/model"
)

// Of returns the time-outs that hold for a cluster: soft ones need both the service (ENABLE_SOFT_TIMEOUTS) and the organisation of the
// cluster to want them.
func (t Timeouts) Of(c *model.Cluster) Timeouts {
	if !t.Soft || c == nil || c.OrgSoftTimeouts {
		return t
	}
	t.Soft = false
	if t.FinalizingStages[model.FinalizingWaitingForOperators] == operatorsSoft { // the default was not changed
		t.FinalizingStages = maps.Clone(t.FinalizingStages)
		t.FinalizingStages[model.FinalizingWaitingForOperators] = operatorsHard
	}
	return t
}
