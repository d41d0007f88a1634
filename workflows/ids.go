// Package workflows holds the workflow definitions of installations: deterministic code
// that orders activities, waits for hosts and takes commands. It does no I/O, reads no
// clock and evaluates no rule.
package workflows

import "github.com/google/uuid"

// ClusterWorkflowID returns the id of the workflow that installs a cluster.
func ClusterWorkflowID(cluster uuid.UUID) string { return "cluster:" + cluster.String() }

// ResetWorkflowID returns the id of the workflow that resets a cluster without a running installation.
func ResetWorkflowID(cluster uuid.UUID) string { return "reset:" + cluster.String() }

// HostResetWorkflowID returns the id of the workflow that resets a host without a running installation.
func HostResetWorkflowID(infraEnv, host uuid.UUID) string {
	return "reset:" + infraEnv.String() + ":" + host.String()
}

// ReclaimWorkflowID returns the id of the workflow that returns a host to its InfraEnv.
func ReclaimWorkflowID(infraEnv, host uuid.UUID) string {
	return "reclaim:" + infraEnv.String() + ":" + host.String()
}

// HostWorkflowID returns the id of the workflow that installs a host, with its cluster or into an existing one: a host has one of them
// at most.
func HostWorkflowID(infraEnv, host uuid.UUID) string {
	return "host:" + infraEnv.String() + ":" + host.String()
}

// Types of workflows in Temporal: the names of their functions.
const (
	TypeClusterInstall = "ClusterInstall"
	TypeHostInstall    = "HostInstall"
)
