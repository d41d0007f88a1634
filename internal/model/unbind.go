package model

// LeaveCluster forgets what a host was in its cluster; what is known of its hardware stays.
func (h *Host) LeaveCluster() {
	h.ClusterID, h.Kind = nil, KindHost
	h.Role, h.SuggestedRole, h.AutoRole, h.Bootstrap = RoleAutoAssign, "", false, false
	h.Stage, h.Progress, h.Attempt, h.DecisionOpen = "", HostProgress{}, 0, false
	h.Validations, h.Connectivity = nil, nil
	h.Tang, h.TangError, h.IgnitionDownload = nil, "", nil
}
