// Package workflows holds the story of an installation: pure code that orders
// activities, waits for hosts and takes commands. It does no I/O, reads no clock and
// evaluates no rule.
package workflows

import "github.com/google/uuid"

// ClusterID is the id of the workflow that installs a cluster.
func ClusterID(cluster uuid.UUID) string { return "cluster:" + cluster.String() }

// ResetID is the id of the workflow that resets a cluster without a running installation.
func ResetID(cluster uuid.UUID) string { return "reset:" + cluster.String() }

// HostResetID is the id of the workflow that resets a host without a running installation.
func HostResetID(infraEnv, host uuid.UUID) string {
	return "reset:" + infraEnv.String() + ":" + host.String()
}

// ReclaimID is the id of the workflow that takes a host back to its discovery environment.
func ReclaimID(infraEnv, host uuid.UUID) string {
	return "reclaim:" + infraEnv.String() + ":" + host.String()
}

// HostID is the id of the workflow that installs a host, with its cluster or into one
// that exists: it has one of them at most.
func HostID(infraEnv, host uuid.UUID) string {
	return "host:" + infraEnv.String() + ":" + host.String()
}
