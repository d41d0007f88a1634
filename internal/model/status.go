package model

import "slices"

// ClusterStatus is the state of a cluster (contract: 12 values).
type ClusterStatus string

// The cluster statuses.
const (
	ClusterInsufficient                ClusterStatus = "insufficient"
	ClusterReady                       ClusterStatus = "ready"
	ClusterError                       ClusterStatus = "error"
	ClusterPreparingForInstallation    ClusterStatus = "preparing-for-installation"
	ClusterPendingForInput             ClusterStatus = "pending-for-input"
	ClusterInstalling                  ClusterStatus = "installing"
	ClusterFinalizing                  ClusterStatus = "finalizing"
	ClusterInstalled                   ClusterStatus = "installed"
	ClusterAddingHosts                 ClusterStatus = "adding-hosts"
	ClusterCancelled                   ClusterStatus = "cancelled"
	ClusterInstallingPendingUserAction ClusterStatus = "installing-pending-user-action"
	ClusterUnmonitored                 ClusterStatus = "unmonitored"
)

// ClusterKind distinguishes clusters installed here from clusters that only accept additional hosts.
type ClusterKind string

// The cluster kinds.
const (
	KindCluster             ClusterKind = "Cluster"
	KindAddHostsCluster     ClusterKind = "AddHostsCluster"
	KindDisconnectedCluster ClusterKind = "DisconnectedCluster"
)

// HostStatus is the state of a host (contract: 28 values).
type HostStatus string

// The host statuses; those ending in unbound belong to hosts without a cluster.
const (
	HostDiscovering                 HostStatus = "discovering"
	HostKnown                       HostStatus = "known"
	HostDisconnected                HostStatus = "disconnected"
	HostInsufficient                HostStatus = "insufficient"
	HostDisabled                    HostStatus = "disabled"
	HostPreparingForInstallation    HostStatus = "preparing-for-installation"
	HostPreparingFailed             HostStatus = "preparing-failed"
	HostPreparingSuccessful         HostStatus = "preparing-successful"
	HostPendingForInput             HostStatus = "pending-for-input"
	HostInstalling                  HostStatus = "installing"
	HostInstallingInProgress        HostStatus = "installing-in-progress"
	HostInstallingPendingUserAction HostStatus = "installing-pending-user-action"
	HostResettingPendingUserAction  HostStatus = "resetting-pending-user-action"
	HostInstalled                   HostStatus = "installed"
	HostError                       HostStatus = "error"
	HostResetting                   HostStatus = "resetting"
	HostAddedToExistingCluster      HostStatus = "added-to-existing-cluster"
	HostCancelled                   HostStatus = "cancelled"
	HostBinding                     HostStatus = "binding"
	HostUnbinding                   HostStatus = "unbinding"
	HostUnbindingPendingUserAction  HostStatus = "unbinding-pending-user-action"
	HostKnownUnbound                HostStatus = "known-unbound"
	HostDisconnectedUnbound         HostStatus = "disconnected-unbound"
	HostInsufficientUnbound         HostStatus = "insufficient-unbound"
	HostDisabledUnbound             HostStatus = "disabled-unbound"
	HostDiscoveringUnbound          HostStatus = "discovering-unbound"
	HostReclaiming                  HostStatus = "reclaiming"
	HostReclaimingRebooting         HostStatus = "reclaiming-rebooting"
)

// HostKind distinguishes hosts of a new cluster from hosts added to an existing one.
type HostKind string

// The host kinds.
const (
	KindHost                     HostKind = "Host"
	KindAddToExistingClusterHost HostKind = "AddToExistingClusterHost"
)

// Role is the function of a host in its cluster.
type Role string

// The roles. RoleBootstrap is never stored: it names the arguments and the stage
// list of the control plane host that carries the bootstrap services.
const (
	RoleAutoAssign Role = "auto-assign"
	RoleMaster     Role = "master"
	RoleArbiter    Role = "arbiter"
	RoleWorker     Role = "worker"
	RoleBootstrap  Role = "bootstrap"
)

// AgentSteps is the set of steps an agent understands during an installation.
type AgentSteps string

// With InstallStep an agent runs one step for the whole installation; with FineSteps, as the agents of Slipway, one for
// each part of a stage.
const (
	InstallStep AgentSteps = "install"
	FineSteps   AgentSteps = "fine"
)

// LogsState is the progress of a collection of logs.
type LogsState string

// The log collection states.
const (
	LogsNone       LogsState = ""
	LogsRequested  LogsState = "requested"
	LogsCollecting LogsState = "collecting"
	LogsCompleted  LogsState = "completed"
	LogsTimeout    LogsState = "timeout"
)

// MediaStatus reports whether the virtual media a host booted from is still connected.
type MediaStatus string

// The media states.
const (
	MediaConnected    MediaStatus = "connected"
	MediaDisconnected MediaStatus = "disconnected"
)

// ClusterStatuses is a set of cluster statuses.
type ClusterStatuses []ClusterStatus

// Has reports whether a status is in the set.
func (s ClusterStatuses) Has(status ClusterStatus) bool { return slices.Contains(s, status) }

// HostStatuses is a set of host statuses.
type HostStatuses []HostStatus

// Has reports whether a status is in the set.
func (s HostStatuses) Has(status HostStatus) bool { return slices.Contains(s, status) }

// ReadyHosts are the statuses of a host that can be, or just is, prepared for an installation.
var ReadyHosts = HostStatuses{HostKnown, HostPreparingForInstallation, HostPreparingSuccessful}

// ObjectKind names what users and hosts change.
type ObjectKind string

// The kinds of objects in the feed of changes.
const (
	ObjectCluster  ObjectKind = "cluster"
	ObjectHost     ObjectKind = "host"
	ObjectInfraEnv ObjectKind = "infra-env"
)
