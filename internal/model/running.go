package model

import "slices"

// running are the statuses in which a workflow installs the cluster.
var running = []ClusterStatus{
	ClusterPreparingForInstallation, ClusterInstalling, ClusterInstallingPendingUserAction, ClusterFinalizing,
}

// Running reports whether a workflow is installing the cluster and is not stopped at a time-out.
func (c *Cluster) Running() bool { return slices.Contains(running, c.Status) }

// InstallationRuns reports whether a workflow is installing the cluster and its hosts, including one that is
// stopped at a time-out and waits for a command.
func (c *Cluster) InstallationRuns() bool {
	return c.Running() || c.DecisionOpen
}
