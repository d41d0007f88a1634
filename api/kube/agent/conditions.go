package agent

import (
	corev1 "k8s.io/api/core/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/wire"
)

// Messages of conditions, as the existing service has them: programs compare them.
const (
	synced       = "The Spec has been successfully applied"
	backendError = "The Spec could not be synced due to backend error: "
	inputError   = "The Spec could not be synced due to an input error: "

	connected    = "The agent's connection to the installation service is unimpaired"
	disconnected = "The agent has not contacted the installation service in some time, user action should be taken"

	ready             = "The agent is ready to begin the installation"
	notReady          = "The agent is not ready to begin the installation"
	alreadyInstalling = "Installation already started and is in progress"
	notApproved       = "The agent is not approved"
	stopped           = "The agent installation stopped"

	passing     = "The agent's validations are passing"
	unknown     = "The agent's validations have not yet been calculated"
	fails       = "The agent's validations are failing: "
	userPending = "The agent's validations are pending for user: "

	completed    = "The installation has completed: "
	failed       = "The installation has failed: "
	notStarted   = "The installation has not yet started"
	inProgress   = "The installation is in progress: "
	unrecognized = "The installation status is currently not recognized: "

	bound          = "The agent is bound to a cluster deployment"
	unbound        = "The agent is not bound to any cluster deployment"
	binding        = "The agent is currently binding to a cluster deployment"
	unbinding      = "The agent is currently unbinding from a cluster deployment"
	unbindingWaits = "The agent is currently unbinding; Pending host reboot from infraenv image"
)

// phase groups the statuses of hosts by the conditions that they have in common.
type phase int

const (
	phaseUnknown phase = iota
	phaseDiscovery
	phaseReady
	phaseInstalling
	phaseInstalled
	phaseFailed
	phaseBinding
	phaseUnbinding
)

// phases has the phase of each status; the others are unknown to the existing service.
var phases = map[wire.HostStatus]phase{
	wire.HostStatusDiscovering: phaseDiscovery, wire.HostStatusDiscoveringUnbound: phaseDiscovery,
	wire.HostStatusDisconnected: phaseDiscovery, wire.HostStatusDisconnectedUnbound: phaseDiscovery,
	wire.HostStatusInsufficient: phaseDiscovery, wire.HostStatusInsufficientUnbound: phaseDiscovery,
	wire.HostStatusPendingForInput: phaseDiscovery, wire.HostStatusPreparingFailed: phaseDiscovery,
	wire.HostStatusKnown: phaseReady, wire.HostStatusKnownUnbound: phaseReady,
	wire.HostStatusPreparingForInstallation: phaseInstalling, wire.HostStatusPreparingSuccessful: phaseInstalling,
	wire.HostStatusInstalling: phaseInstalling, wire.HostStatusInstallingInProgress: phaseInstalling,
	wire.HostStatusInstallingPendingUserAction: phaseInstalling,
	wire.HostStatusInstalled:                   phaseInstalled, wire.HostStatusAddedToExistingCluster: phaseInstalled,
	wire.HostStatusError:     phaseFailed,
	wire.HostStatusBinding:   phaseBinding,
	wire.HostStatusUnbinding: phaseUnbinding, wire.HostStatusUnbindingPendingUserAction: phaseUnbinding,
	wire.HostStatusReclaiming: phaseUnbinding, wire.HostStatusReclaimingRebooting: phaseUnbinding,
}

// verdict is a condition without its type and times.
type verdict struct {
	status          corev1.ConditionStatus
	reason, message string
}

var (
	isBinding   = verdict{corev1.ConditionFalse, agentinstall.ReasonBinding, binding}
	isUnbinding = verdict{corev1.ConditionFalse, agentinstall.ReasonUnbinding, unbinding}
)

// conditions returns the conditions that a host decides.
func conditions(a *agentinstall.Agent, h *wire.Host, results agentinstall.ValidationsStatus) []agentinstall.Condition {
	list := make([]agentinstall.Condition, 0, 6)
	for _, c := range []struct {
		kind agentinstall.ConditionType
		verdict
	}{
		{agentinstall.Connected, isConnected(h)},
		{agentinstall.RequirementsMet, meetsRequirements(a, h)},
		{agentinstall.Validated, isValidated(h, results)},
		{agentinstall.Installed, isInstalled(h)},
		{agentinstall.BoundCondition, isBound(h)},
	} {
		list = append(list, agentinstall.Condition{Type: c.kind, Status: c.status, Reason: c.reason, Message: c.message})
	}
	return list
}

func isConnected(h *wire.Host) verdict {
	if h.Status == wire.HostStatusDisconnected || h.Status == wire.HostStatusDisconnectedUnbound {
		return verdict{corev1.ConditionFalse, agentinstall.ReasonAgentIsDisconnected, disconnected}
	}
	return verdict{corev1.ConditionTrue, agentinstall.ReasonAgentIsConnected, connected}
}

func meetsRequirements(a *agentinstall.Agent, h *wire.Host) verdict {
	switch phases[h.Status] {
	case phaseReady:
		if !a.Spec.Approved {
			return verdict{corev1.ConditionFalse, agentinstall.ReasonAgentIsNotApproved, notApproved}
		}
		return verdict{corev1.ConditionTrue, agentinstall.ReasonAgentIsReady, ready}
	case phaseDiscovery:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonAgentNotReady, notReady}
	case phaseInstalling:
		return verdict{corev1.ConditionTrue, agentinstall.ReasonAgentAlreadyInstalling, alreadyInstalling}
	case phaseInstalled, phaseFailed:
		return verdict{corev1.ConditionTrue, agentinstall.ReasonAgentInstallationStopped, stopped}
	case phaseBinding:
		return isBinding
	case phaseUnbinding:
		return isUnbinding
	case phaseUnknown:
	}
	return isUnrecognized(h)
}

func isValidated(h *wire.Host, results agentinstall.ValidationsStatus) verdict {
	switch {
	case phases[h.Status] == phaseBinding:
		return isBinding
	case phases[h.Status] == phaseUnbinding:
		return isUnbinding
	case h.Status == wire.HostStatusInsufficient, h.Status == wire.HostStatusInsufficientUnbound:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonValidationsFailing, fails + resource.Failing(results)}
	case h.Status == wire.HostStatusPendingForInput:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonValidationsUserPending, userPending + resource.Failing(results)}
	case len(results) == 0:
		return verdict{corev1.ConditionUnknown, agentinstall.ReasonValidationsUnknown, unknown}
	}
	return verdict{corev1.ConditionTrue, agentinstall.ReasonValidationsPassing, passing}
}

func isInstalled(h *wire.Host) verdict {
	switch phases[h.Status] {
	case phaseInstalled:
		return verdict{corev1.ConditionTrue, agentinstall.ReasonInstallationCompleted, completed + h.StatusInfo}
	case phaseFailed:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonInstallationFailed, failed + h.StatusInfo}
	case phaseDiscovery, phaseReady:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonInstallationNotStarted, notStarted}
	case phaseInstalling:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonInstallationInProgress, inProgress + h.StatusInfo}
	case phaseBinding:
		return isBinding
	case phaseUnbinding:
		return isUnbinding
	case phaseUnknown:
	}
	return isUnrecognized(h)
}

func isUnrecognized(h *wire.Host) verdict {
	return verdict{corev1.ConditionUnknown, agentinstall.ReasonUnknownStatus, unrecognized + string(h.Status)}
}

func isBound(h *wire.Host) verdict {
	switch h.Status {
	case wire.HostStatusUnbindingPendingUserAction:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonUnbindingPendingUserAction, unbindingWaits}
	case wire.HostStatusDisconnectedUnbound, wire.HostStatusKnownUnbound, wire.HostStatusInsufficientUnbound,
		wire.HostStatusDisabledUnbound, wire.HostStatusDiscoveringUnbound:
		return verdict{corev1.ConditionFalse, agentinstall.ReasonUnbound, unbound}
	}
	switch phases[h.Status] {
	case phaseBinding:
		return isBinding
	case phaseUnbinding:
		return isUnbinding
	}
	return verdict{corev1.ConditionTrue, agentinstall.ReasonBound, bound}
}

// specSynced says whether the service has taken the spec.
func specSynced(problem error) agentinstall.Condition {
	c := agentinstall.Condition{
		Type: agentinstall.SpecSynced, Status: corev1.ConditionTrue, Reason: agentinstall.ReasonSyncOK, Message: synced,
	}
	switch {
	case problem == nil:
	case resource.IsInput(problem):
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, agentinstall.ReasonInputError, inputError+problem.Error()
	default:
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, agentinstall.ReasonBackendError, backendError+problem.Error()
	}
	return c
}
