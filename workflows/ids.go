// Package workflows holds the story of an installation: pure code that orders
// activities, waits for hosts and takes commands. It does no I/O, reads no clock and
// evaluates no rule.
package workflows

import "github.com/google/uuid"

// ClusterID is the id of the workflow that installs a cluster.
func ClusterID(cluster uuid.UUID) string { return "cluster:" + cluster.String() }

// ResetID is the id of the workflow that resets a cluster without a running installation.
func ResetID(cluster uuid.UUID) string { return "reset:" + cluster.String() }

// HostID is the id of the workflow that installs a host.
func HostID(infraEnv, host uuid.UUID) string {
	return "host:" + infraEnv.String() + ":" + host.String()
}
