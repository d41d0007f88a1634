package lifecycle

import (
	"slices"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Sets of cluster statuses that decide what a command, a report or an evaluation may do.
var (
	// BeforeInstallation: the definition can change and no installation was begun.
	BeforeInstallation = model.ClusterStatuses{cInput, cReady, cInsufficient}
	// TakesHosts: unknown hosts may join, and the cluster follows the inventories of its hosts.
	TakesHosts = model.ClusterStatuses{cInput, cInsufficient, cReady, model.ClusterAddingHosts}
	// Changeable: settings of the cluster may change.
	Changeable = TakesHosts
	// UnderInstallation: the workflow has begun to install.
	UnderInstallation = model.ClusterStatuses{cInstalling, cFinalizing, cPending}
	// TakesIngress: the controller may report the certificate of the ingress.
	TakesIngress = append(model.ClusterStatuses{cInstalled}, UnderInstallation...)
	// WithFiles: the files of the installation were generated.
	WithFiles = append(model.ClusterStatuses{cPreparing, cError, cCancelled, model.ClusterAddingHosts}, TakesIngress...)
	// WithConsole: users can log in, so that the complete kubeconfig is of use.
	WithConsole = model.ClusterStatuses{cFinalizing, cInstalled, cError, model.ClusterAddingHosts}
)

// Sets of host statuses.
var (
	// InDiscovery: answers of discovery count. Later answers must not change the basis of an installation.
	InDiscovery = slices.Concat(discoveryStatuses, model.HostStatuses{binding, unbinding}, poolDiscovery)
	// BeforeWriting: InDiscovery, and the checks before an installation run.
	BeforeWriting = slices.Concat(model.HostStatuses{preparing, prepFailed, prepared}, InDiscovery)
	// ChangeableHosts: settings of the host may change.
	ChangeableHosts = slices.Concat(discoveryStatuses, model.HostStatuses{prepFailed, binding}, poolDiscovery)
	// Silent: nothing is known of the host's addresses, or it does not answer: connectivity
	// checks leave it out.
	Silent = model.HostStatuses{discovering, disconnected}
	// Disconnected: the host has not polled for too long.
	Disconnected = model.HostStatuses{disconnected, model.HostDisconnectedUnbound}
	// HostsUnderInstallation: a workflow prepares or installs the host.
	HostsUnderInstallation = slices.Concat(model.HostStatuses{preparing, prepared}, Reportable)
	// Reportable: reports of stages count.
	Reportable = model.HostStatuses{installing, inProgress, waitsForUser}
	// WithIgnition: the host's Ignition config belongs to its installation. In other states the host has none, or a config that an earlier
	// installation left behind.
	WithIgnition = slices.Concat(model.HostStatuses{prepared, installed, added, failed, cancelled}, Reportable)
	// BeingAdded: the attempt to add the host to an existing cluster has begun; it may have
	// failed before its workflow could look at it.
	BeingAdded = model.HostStatuses{installing, inProgress, failed}
	// Reclaimed: the host returns to its InfraEnv.
	Reclaimed = model.HostStatuses{reclaiming, rebooting}
	// Rediscovered: a host that was booted again can be installed again.
	Rediscovered = model.HostStatuses{known, preparing, prepared, installing}
	// InstalledHosts: the host runs from its disk as a node.
	InstalledHosts = model.HostStatuses{installed, added}
	// Booting: the host is about to boot from its disk.
	Booting = model.HostStatuses{inProgress, waitsForUser}
	// WithHistory: the due steps of the host depend on when its status changed and on its logs.
	WithHistory = slices.Concat(model.HostStatuses{failed, cancelled}, Reclaimed)
	// NeedsProof: the host is installed or being installed. Its id is no secret: a caller that registers it without its former token may
	// be another machine.
	NeedsProof = slices.Concat(InstalledHosts, Reportable)
	// AwaitsBoot: the host is to be booted by its user or by its workflow, or nothing but its registration is known.
	AwaitsBoot = slices.Concat(BeingReset, Reclaimed, Disconnected, model.HostStatuses{
		cancelled, model.HostUnbindingPendingUserAction,
	})
	// BeingReset: the host's agent is to stop, or its user to boot it.
	BeingReset = model.HostStatuses{resetting, resetWaits}
	// preparationStatuses: the host's cluster prepares.
	preparationStatuses = model.HostStatuses{known, preparing, prepared, prepFailed}
	// withoutAgent: no agent runs on the host.
	withoutAgent = slices.Concat(InstalledHosts, model.HostStatuses{resetWaits})
	// installingStatuses: the host is, or was, installed without failing.
	installingStatuses = slices.Concat(model.HostStatuses{installed, prepared}, Reportable)
)

// LeftItsImage reports whether a host is installed, or is on its way to its own system: nothing is asked of its discovery image.
func LeftItsImage(status model.HostStatus, stage model.Stage) bool {
	return InstalledHosts.Has(status) || Reportable.Has(status) && stage.LeftLiveImage()
}

// FetchesConfigs reports whether a host may need the configs it is installed with: from the end of the preparation until it leaves the
// discovery image.
func FetchesConfigs(status model.HostStatus, stage model.Stage) bool {
	return (status == prepared || Reportable.Has(status)) && !stage.LeftLiveImage()
}

// TakesStep returns the statuses in which a host may be given a step of a workflow. Steps that install are for hosts that are being
// installed; the step that stops it is for hosts that are being reset; steps that reclaim a host are for hosts that are being
// reclaimed. A host that joins an existing cluster is checked when it is being installed already.
func TakesStep(s steps.Step, dayTwo bool) model.HostStatuses {
	switch {
	case s.Check && dayTwo:
		return Reportable
	case s.Check:
		return model.HostStatuses{preparing, prepared, prepFailed}
	case s.Argument == steps.ArgumentInstall:
		return Reportable
	case s.Type == wire.StepTypeStopInstallation:
		return BeingReset
	case s.Type == wire.StepTypeDownloadBootArtifacts || s.Type == wire.StepTypeRebootForReclaim:
		return Reclaimed
	}
	return model.HostStatuses{}
}
