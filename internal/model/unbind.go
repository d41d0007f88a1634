package model

// LeaveCluster clears everything about a host that belongs to its cluster; its inventory stays.
func (h *Host) LeaveCluster() {
	h.ClusterID, h.Kind = nil, KindHost
	h.Role, h.SuggestedRole, h.AutoRole, h.Bootstrap = RoleAutoAssign, "", false, false
	h.Stage, h.Progress, h.Attempt, h.DecisionOpen = "", HostProgress{}, 0, false
	h.Validations, h.Connectivity = nil, nil
	h.Tang, h.TangError, h.IgnitionDownload = nil, "", nil
}
