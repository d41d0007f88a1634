// Package statuswrites breaks the rule of statuses in every way that TestStatusWritesAreFound
// knows of.
package statuswrites

import "slipway/internal/model"

func writes(h *model.Host, c model.Cluster, list []*model.Cluster) *model.Host {
	h.Status = model.HostKnown
	h.Status, c.StatusInfo = model.HostError, "broken"
	list[0].Status = model.ClusterError
	overwrite(&c.Status)
	return &model.Host{Status: model.HostKnown}
}

func overwrite(*model.ClusterStatus) {}

func reads(h *model.Host, o model.MonitoredOperator) bool {
	o.Status = model.OperatorAvailable
	return h.Status == model.HostKnown
}
