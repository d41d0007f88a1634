package model

import "slices"

// running are the statuses in which a workflow has the cluster in its hands.
var running = []ClusterStatus{
	ClusterPreparingForInstallation, ClusterInstalling, ClusterInstallingPendingUserAction, ClusterFinalizing,
}

// Running reports whether a workflow has the cluster in its hands and is at work.
func (c *Cluster) Running() bool { return slices.Contains(running, c.Status) }

// InstallationRuns reports whether a workflow has the cluster and its hosts in its hands,
// also one that stopped at a time-out and waits for a command.
func (c *Cluster) InstallationRuns() bool {
	return c.Running() || c.DecisionOpen
}
