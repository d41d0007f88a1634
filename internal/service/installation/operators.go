package installation

import (
	"strings"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// installed is what a cluster is told to be at the end. Operators that failed degrade it
// and are told of; they keep it from nothing.
func installed(c *model.Cluster, monitored []model.MonitoredOperator, tx *store.Tx) string {
	var failed []string
	for _, o := range monitored {
		if o.Type == operators.TypeOLM && o.Status == model.OperatorFailed {
			failed = append(failed, o.Name)
		}
	}
	if len(failed) == 0 {
		return "Cluster is installed"
	}
	names := strings.Join(failed, ", ")
	tx.Event(events.New(events.ClusterDegradedOLMOperatorsFailed, about(c), events.Props{"failed_operators": names}, tx.Now()))
	return "Cluster is installed, but these operators failed: " + names
}
