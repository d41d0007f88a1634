package cluster

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// Messages of conditions, as the existing service has them: programs compare them.
const (
	synced       = "The Spec has been successfully applied"
	backendError = "The Spec could not be synced due to backend error: "
	inputError   = "The Spec could not be synced due to an input error: "
	notAvailable = "Information not available"

	ready             = "The cluster is ready to begin the installation"
	notReady          = "The cluster is not ready to begin the installation"
	alreadyInstalling = "The cluster requirements are met"
	stopped           = "The cluster installation stopped"
	wrongAgents       = "The cluster currently requires exactly %d master agents, %d arbiter agents and %d worker agents, " +
		"but currently registered %d master agents, %d arbiter agents and %d worker agents"
	unapproved = "The installation is pending on the approval of %d agents"
	unsynced   = "The cluster currently has %d agents with spec error"

	passing     = "The cluster's validations are passing"
	unknown     = "The cluster's validations have not yet been calculated"
	fails       = "The cluster's validations are failing: "
	userPending = "The cluster's validations are pending for user: "

	completed    = "The installation has completed: "
	hasFailed    = "The installation has failed: "
	notStarted   = "The installation has not yet started"
	onHold       = "The installation is on hold. To unhold set holdInstallation to false"
	inProgress   = "The installation is in progress: "
	unrecognized = "The installation status is currently not recognized: "

	failed    = "The installation failed: "
	notFailed = "The installation has not failed"

	stoppedByError     = "The installation has stopped due to error"
	stoppedByUser      = "The installation has stopped because it was cancelled"
	stoppedByItsEnd    = "The installation has stopped because it completed successfully"
	notStopped         = "The installation is waiting to start or in progress"
	preparationOK      = "There is no failing prior preparation attempt"
	preparationFailed  = "The last installation preparation failed"
	preparationPending = "Cluster preparation has never been performed for this cluster"
)

// verdict is a condition without its type and times.
type verdict struct {
	status          corev1.ConditionStatus
	reason, message string
}

func yes(reason, message string) verdict { return verdict{corev1.ConditionTrue, reason, message} }

func no(reason, message string) verdict { return verdict{corev1.ConditionFalse, reason, message} }

// Status returns the status of an AgentClusterInstall. base is the root of the service; problem is why the spec is not applied, nil: it is.
func Status(in Inputs, base string, problem error, now metav1.Time) (hiveext.AgentClusterInstallStatus, error) {
	status, c := in.Install.Status.DeepCopy(), in.Cluster
	set := func(kind hiveext.ConditionType, v verdict) { setCondition(&status.Conditions, kind, v, now) }
	set(hiveext.SpecSynced, specSynced(problem))
	if c == nil && isInstalled(&in) {
		return *status, nil // what was known of it is kept until it is imported
	}
	if c == nil {
		status.DebugInfo = agentinstall.DebugInfo{}
		for _, kind := range []hiveext.ConditionType{
			hiveext.Validated, hiveext.RequirementsMet, hiveext.Completed, hiveext.Failed, hiveext.Stopped,
		} {
			set(kind, verdict{corev1.ConditionUnknown, hiveext.ReasonNotAvailable, notAvailable})
		}
		return *status, nil
	}
	if c.ValidationsInfo != "" {
		status.ValidationsInfo = nil
		if err := json.Unmarshal([]byte(c.ValidationsInfo), &status.ValidationsInfo); err != nil {
			return *status, fmt.Errorf("read the validations of cluster %s: %w", c.ID, err)
		}
	}
	set(hiveext.RequirementsMet, meetsRequirements(in))
	set(hiveext.Validated, isValidated(c, status.ValidationsInfo))
	set(hiveext.Completed, isCompleted(in))
	set(hiveext.Failed, hasStatus(c.Status == wire.ClusterStatusError, yes(hiveext.ReasonInstallationFailed, failed+c.StatusInfo),
		no(hiveext.ReasonInstallationNotFailed, notFailed)))
	set(hiveext.Stopped, isStopped(c))
	if !c.Imported {
		set(hiveext.LastInstallationPreparationFailed, preparation(c))
	}
	describe(status, in, base)
	return *status, nil
}

func hasStatus(has bool, then, otherwise verdict) verdict {
	if has {
		return then
	}
	return otherwise
}

// describe fills the status with what the cluster is, beside conditions.
func describe(status *hiveext.AgentClusterInstallStatus, in Inputs, base string) {
	c := in.Cluster
	if !c.Imported { // the service knows no host and no network of an imported one
		describeInstalled(status, in)
	}
	status.DebugInfo = agentinstall.DebugInfo{
		State: string(c.Status), StateInfo: c.StatusInfo,
		EventsURL: base + client.BasePath + "/v2/events?" + url.Values{"cluster_id": {c.ID.String()}}.Encode(),
	}
	if c.ControllerLogsCollectedAt.Time().Year() > 1 || slices.ContainsFunc(c.Hosts, func(h wire.Host) bool {
		return h.LogsCollectedAt.Time().Year() > 1
	}) {
		status.DebugInfo.LogsURL = base + client.BasePath + "/v2/clusters/" + c.ID.String() + "/logs"
	}
	if c.InstallStartedAt.Time().Year() > 1 {
		status.DebugInfo.WorkflowURL = base + resource.UIPath + "/clusters/" + c.ID.String()
	}
}

// describeInstalled fills the status with hosts and networks.
func describeInstalled(status *hiveext.AgentClusterInstallStatus, in Inputs) {
	c, hosts := in.Cluster, count(in)
	status.ControlPlaneAgentsDiscovered, status.ControlPlaneAgentsReady = hosts.registered.masters, hosts.ready.masters
	status.WorkerAgentsDiscovered, status.WorkerAgentsReady = hosts.registered.workers, hosts.ready.workers
	status.ConnectivityMajorityGroups = c.ConnectivityMajorityGroups
	status.UserManagedNetworking = &c.UserManagedNetworking
	status.Progress = &hiveext.ClusterProgress{TotalPercentage: int64(c.Progress.TotalPercentage)}
	status.PlatformType = platforms[c.Platform.Type]
	status.MachineNetwork, status.APIVIPs, status.IngressVIPs, status.APIVIP, status.IngressVIP = nil, nil, nil, "", ""
	for _, n := range c.MachineNetworks {
		status.MachineNetwork = append(status.MachineNetwork, hiveext.MachineNetworkEntry{CIDR: n.Cidr})
	}
	for n, vip := range c.APIVips {
		if status.APIVIPs = append(status.APIVIPs, vip.IP); n == 0 {
			status.APIVIP = vip.IP
		}
	}
	for n, vip := range c.IngressVips {
		if status.IngressVIPs = append(status.IngressVIPs, vip.IP); n == 0 {
			status.IngressVIP = vip.IP
		}
	}
}

// platforms has the names of platforms in resources.
var platforms = map[wire.PlatformType]hiveext.PlatformType{
	wire.PlatformTypeBaremetal: "BareMetal", wire.PlatformTypeNone: "None", wire.PlatformTypeVsphere: "VSphere",
	wire.PlatformTypeNutanix: "Nutanix", wire.PlatformTypeExternal: "External",
}

func setCondition(list *[]hiveext.ClusterInstallCondition, kind hiveext.ConditionType, v verdict, now metav1.Time) {
	c := hiveext.ClusterInstallCondition{
		Type: kind, Status: v.status, Reason: v.reason, Message: v.message, LastProbeTime: now, LastTransitionTime: now,
	}
	for n := range *list {
		found := &(*list)[n]
		if found.Type != kind {
			continue
		}
		if found.Status == c.Status {
			c.LastTransitionTime = found.LastTransitionTime
		}
		if found.Status != c.Status || found.Reason != c.Reason || found.Message != c.Message {
			*found = c
		}
		return
	}
	*list = append(*list, c)
}

func specSynced(problem error) verdict {
	switch {
	case problem == nil:
		return yes(hiveext.ReasonSyncOK, synced)
	case resource.IsInput(problem):
		return no(hiveext.ReasonInputError, inputError+problem.Error())
	}
	return no(hiveext.ReasonBackendError, backendError+problem.Error())
}

func meetsRequirements(in Inputs) verdict {
	switch in.Cluster.Status {
	case wire.ClusterStatusReady:
		return agentsSuffice(in)
	case wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
		return no(hiveext.ReasonClusterNotReady, notReady)
	case wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction,
		wire.ClusterStatusAddingHosts, wire.ClusterStatusFinalizing:
		return yes(hiveext.ReasonClusterAlreadyInstalling, alreadyInstalling)
	case wire.ClusterStatusInstalled, wire.ClusterStatusError:
		return yes(hiveext.ReasonClusterInstallationStopped, stopped)
	}
	return isUnrecognized(in.Cluster)
}

// agentsSuffice compares the hosts of a cluster that is ready with the requirements of the spec.
func agentsSuffice(in Inputs) verdict {
	c, want := count(in), expected(in)
	switch {
	case c.unsynced > 0 && c.ready.all() >= want.all():
		return no(hiveext.ReasonUnsyncedAgents, fmt.Sprintf(unsynced, c.unsynced))
	case c.ready != want:
		return no(hiveext.ReasonInsufficientAgents, fmt.Sprintf(wrongAgents, want.masters, want.arbiters, want.workers,
			c.ready.masters, c.ready.arbiters, c.ready.workers))
	case c.unapproved > 0:
		return no(hiveext.ReasonUnapprovedAgents, fmt.Sprintf(unapproved, c.unapproved))
	}
	return yes(hiveext.ReasonClusterIsReady, ready)
}

func isUnrecognized(c *wire.Cluster) verdict {
	return verdict{corev1.ConditionUnknown, hiveext.ReasonUnknownStatus, unrecognized + string(c.Status)}
}

func isValidated(c *wire.Cluster, results agentinstall.ValidationsStatus) verdict {
	switch {
	case c.Status == wire.ClusterStatusInsufficient:
		return no(hiveext.ReasonValidationsFailing, fails+resource.Failing(results))
	case c.Status == wire.ClusterStatusPendingForInput:
		return no(hiveext.ReasonValidationsUserPending, userPending+resource.Failing(results))
	case c.Status == wire.ClusterStatusAddingHosts, len(results) > 0:
		return yes(hiveext.ReasonValidationsPassing, passing)
	}
	return verdict{corev1.ConditionUnknown, hiveext.ReasonValidationsUnknown, unknown}
}

func isCompleted(in Inputs) verdict {
	c := in.Cluster
	switch c.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		return yes(hiveext.ReasonInstallationCompleted, completed+c.StatusInfo)
	case wire.ClusterStatusError:
		return no(hiveext.ReasonInstallationFailed, hasFailed+c.StatusInfo)
	case wire.ClusterStatusReady:
		return hasStatus(in.Install.Spec.HoldInstallation, no(hiveext.ReasonInstallationOnHold, onHold),
			no(hiveext.ReasonInstallationNotStarted, notStarted))
	case wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
		return no(hiveext.ReasonInstallationNotStarted, notStarted)
	case wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing,
		wire.ClusterStatusInstallingPendingUserAction:
		return no(hiveext.ReasonInstallationInProgress, inProgress+c.StatusInfo+versionOperator(c))
	}
	return isUnrecognized(c)
}

// versionOperator says what the operator of the cluster's version reports.
func versionOperator(c *wire.Cluster) string {
	for _, o := range c.MonitoredOperators {
		if o.Name == "cvo" && o.Status != "" {
			return fmt.Sprintf(". Cluster version status: %s, message: %s", o.Status, o.StatusInfo)
		}
	}
	return ""
}

func isStopped(c *wire.Cluster) verdict {
	switch c.Status {
	case wire.ClusterStatusError:
		return yes(hiveext.ReasonInstallationFailed, stoppedByError)
	case wire.ClusterStatusCancelled:
		return yes(hiveext.ReasonInstallationCancelled, stoppedByUser)
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		return yes(hiveext.ReasonInstallationCompleted, stoppedByItsEnd)
	}
	return no(hiveext.ReasonInstallationNotStopped, notStopped)
}

// preparation says how the last preparation of an installation ended. The existing service has sentences in the place of its reasons.
func preparation(c *wire.Cluster) verdict {
	switch c.LastInstallationPreparation.Status {
	case wire.LastInstallationPreparationStatusFailed:
		return yes(preparationFailed, c.LastInstallationPreparation.Reason)
	case wire.LastInstallationPreparationStatusSuccess:
		return no(preparationOK, "")
	}
	return no(preparationPending, "")
}
