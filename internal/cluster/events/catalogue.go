package events

import "slipway/internal/model"

// Name is the name of an event, as clients of the API know it.
type Name string

// The events that the service emits. Names, severities and properties follow the v2 API (docs/reference/events.md).
const (
	AfterInactivityClusterDeregistered    Name = "after_inactivity_cluster_deregistered"
	ApiIngressVIPTimedOut                 Name = "api_ingress_vip_timed_out"
	ApiIngressVIPUpdated                  Name = "api_ingress_vip_updated"
	BytesOfHostsRefused                   Name = "bytes_of_hosts_refused"
	ClusterDegradedOLMOperatorsFailed     Name = "cluster_degraded_OLM_operators_failed"
	ClusterDeregistered                   Name = "cluster_deregistered"
	ClusterUndeleted                      Name = "cluster_undeleted"
	ClusterFinalizingStageUpdated         Name = "cluster_finalizing_stage_updated"
	ClusterInstallationCanceled           Name = "cluster_installation_canceled"
	ClusterInstallationCompleted          Name = "cluster_installation_completed"
	ClusterInstallationFailed             Name = "cluster_installation_failed"
	ClusterInstallationReset              Name = "cluster_installation_reset"
	ClusterLogsUploaded                   Name = "cluster_logs_uploaded"
	ClusterOperatorStatus                 Name = "cluster_operator_status"
	ClusterPrepareInstallationStarted     Name = "cluster_prepare_installation_started"
	ClusterRegistrationSucceeded          Name = "cluster_registration_succeeded"
	ClusterStatusUpdated                  Name = "cluster_status_updated"
	ClusterValidationFailed               Name = "cluster_validation_failed"
	ClusterValidationFixed                Name = "cluster_validation_fixed"
	ClustersPermanentlyDeleted            Name = "clusters_permanently_deleted"
	FinalizingStageTimedOut               Name = "finalizing_stage_timed_out"
	InactiveClustersDeregistered          Name = "inactive_clusters_deregistered"
	CommandRefused                        Name = "command_refused"
	InstallationContinued                 Name = "installation_continued"
	InstallConfigApplied                  Name = "install_config_applied"
	PrepareInstallationFailed             Name = "prepare_installation_failed"
	ReleaseUnverified                     Name = "release_unverified"
	ReleaseVerified                       Name = "release_verified"
	ProxySettingsChanged                  Name = "proxy_settings_changed"
	ValidationsIgnored                    Name = "validations_ignored"
	DiskSpeedSlowerThanSupported          Name = "disk_speed_slower_than_supported"
	HostBindSucceeded                     Name = "host_bind_succeeded"
	HostBootstrapSet                      Name = "host_bootstrap_set"
	HostDeregistered                      Name = "host_deregistered"
	HostDiscoveryIgnitionConfigApplied    Name = "host_discovery_ignition_config_applied"
	HostInstallProgressUpdated            Name = "host_install_progress_updated"
	HostInstallationCancelled             Name = "host_installation_cancelled"
	HostInstallationReset                 Name = "host_installation_reset"
	HostInstallationStarted               Name = "host_installation_started"
	HostInstallerArgsApplied              Name = "host_installer_args_applied"
	HostLogsUploaded                      Name = "host_logs_uploaded"
	HostMediaDisconnected                 Name = "host_media_disconnected"
	HostRegistrationFailed                Name = "host_registration_failed"
	HostRegistrationSucceeded             Name = "host_registration_succeeded"
	HostRegistrationUnproven              Name = "host_registration_unproven"
	HostApproved                          Name = "host_approved"
	HostRoleUpdated                       Name = "host_role_updated"
	HostStageTimedOut                     Name = "host_stage_timed_out"
	HostStatusUpdated                     Name = "host_status_updated"
	HostUnbindSucceeded                   Name = "host_unbind_succeeded"
	HostValidationFailed                  Name = "host_validation_failed"
	HostValidationFixed                   Name = "host_validation_fixed"
	ImageStatusUpdated                    Name = "image_status_updated"
	UpgradeAgentFailed                    Name = "upgrade_agent_failed"
	UpgradeAgentFinished                  Name = "upgrade_agent_finished"
	UpgradeAgentStarted                   Name = "upgrade_agent_started"
	UpgradeAgentRefused                   Name = "upgrade_agent_refused"
	UserRequiredCompleteInstallationReset Name = "user_required_complete_installation_reset"
	ImageInfoUpdated                      Name = "image_info_updated"
	InfraEnvDeregistered                  Name = "infra_env_deregistered"
	InfraEnvRegistered                    Name = "infra_env_registered"
)

// DiskSpeedMeasured names a measurement that metrics count and no event shows
// (store.Tx.Count): how long a disk takes to sync.
const DiskSpeedMeasured = "disk_speed_measured"

// entry is one event of the catalogue. Words in braces in the message are properties.
type entry struct {
	severity model.Severity
	props    []string
	message  string
}

// catalogue holds every event. Names, severities and properties follow the v2 API; the sentences are Slipway's own.
var catalogue = map[Name]entry{
	BytesOfHostsRefused: {
		severity: model.SeverityWarning, props: []string{"message"},
		message: "Inventories or logs of hosts are refused: {message}",
	},
	AfterInactivityClusterDeregistered: {
		severity: model.SeverityInfo,
		message:  "Cluster was deleted: it was idle for too long",
	},
	ApiIngressVIPTimedOut: {
		severity: model.SeverityWarning, props: []string{"timeout_interval"},
		message: "No address for the API and ingress came within {timeout_interval} seconds",
	},
	ApiIngressVIPUpdated: {
		severity: model.SeverityInfo, props: []string{"api_vip", "ingress_vip"},
		message: "API address is {api_vip}, ingress address is {ingress_vip}",
	},
	ClusterDegradedOLMOperatorsFailed: {
		severity: model.SeverityWarning, props: []string{"failed_operators"},
		message: "Cluster is installed, but these operators failed: {failed_operators}",
	},
	ClusterDeregistered: {
		severity: model.SeverityInfo,
		message:  "Cluster was deleted",
	},
	ClusterUndeleted: {
		severity: model.SeverityInfo,
		message:  "Cluster was brought back",
	},
	ClusterFinalizingStageUpdated: {
		severity: model.SeverityInfo, props: []string{"finalizing_stage"},
		message: "Finalizing: {finalizing_stage}",
	},
	ClusterInstallationCanceled: {
		severity: model.SeverityInfo,
		message:  "Installation was cancelled",
	},
	ClusterInstallationCompleted: {
		severity: model.SeverityInfo,
		message:  "Cluster is installed",
	},
	ClusterInstallationFailed: {
		severity: model.SeverityCritical, props: []string{"failure_reason"},
		message: "Installation failed: {failure_reason}",
	},
	ClusterInstallationReset: {
		severity: model.SeverityInfo,
		message:  "Installation was reset",
	},
	ClusterLogsUploaded: {
		severity: model.SeverityInfo,
		message:  "Logs of the cluster arrived",
	},
	ClusterOperatorStatus: {
		severity: model.SeverityInfo, props: []string{"operator_name", "status", "status_info"},
		message: "Operator {operator_name} is {status}: {status_info}",
	},
	ClusterPrepareInstallationStarted: {
		severity: model.SeverityInfo,
		message:  "Preparing the installation",
	},
	ClusterRegistrationSucceeded: {
		severity: model.SeverityInfo, props: []string{"cluster_kind"},
		message: "Cluster was defined (kind {cluster_kind})",
	},
	ClusterStatusUpdated: {
		severity: model.SeverityInfo, props: []string{"cluster_status", "status_info"},
		message: "Cluster is {cluster_status}: {status_info}",
	},
	ClusterValidationFailed: {
		severity: model.SeverityWarning, props: []string{"validation_id", "validation_msg", "failure_message"},
		message: "Cluster validation {validation_id} fails: {validation_msg}",
	},
	ClusterValidationFixed: {
		severity: model.SeverityInfo, props: []string{"validation_id", "validation_msg"},
		message: "Cluster validation {validation_id} passes now",
	},
	ClustersPermanentlyDeleted: {
		severity: model.SeverityInfo, props: []string{"message"},
		message: "Deleted clusters were removed for good: {message}",
	},
	FinalizingStageTimedOut: {
		severity: model.SeverityWarning, props: []string{"stage", "minutes"},
		message: "Finalizing stage {stage} takes longer than {minutes} minutes",
	},
	InactiveClustersDeregistered: {
		severity: model.SeverityInfo, props: []string{"message"},
		message: "Inactive clusters were deleted: {message}",
	},
	CommandRefused: {
		severity: model.SeverityWarning, props: []string{"command", "reason"},
		message: "The command {command}, which came through Temporal, was refused: {reason}",
	},
	InstallationContinued: {
		severity: model.SeverityWarning, props: []string{"reason"},
		message: "The installation lost its workflow ({reason}); another one continues where cluster and hosts stand",
	},
	InstallConfigApplied: {
		severity: model.SeverityInfo,
		message:  "Overrides of the install-config were set",
	},
	PrepareInstallationFailed: {
		severity: model.SeverityWarning, props: []string{"error"},
		message: "Preparing the installation failed: {error}",
	},
	ReleaseUnverified: {
		severity: model.SeverityWarning, props: []string{"release", "problem"},
		message: "The signature of release {release} was not verified: {problem}",
	},
	ReleaseVerified: {
		severity: model.SeverityInfo, props: []string{"release", "signed_by"},
		message: "Release {release} is signed by {signed_by}",
	},
	ProxySettingsChanged: {
		severity: model.SeverityInfo,
		message:  "Proxy settings were changed",
	},
	ValidationsIgnored: {
		severity: model.SeverityInfo,
		message:  "Some failing validations are ignored for this cluster",
	},
	DiskSpeedSlowerThanSupported: {
		severity: model.SeverityWarning, props: []string{"host_disk", "fdatasync_duration"},
		message: "Disk {host_disk} takes {fdatasync_duration} ms to sync: etcd needs a faster one",
	},
	HostBindSucceeded: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} was bound to its cluster",
	},
	HostBootstrapSet: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} carries the bootstrap services",
	},
	HostDeregistered: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} was removed",
	},
	HostDiscoveryIgnitionConfigApplied: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: discovery Ignition was changed",
	},
	HostInstallProgressUpdated: {
		severity: model.SeverityInfo, props: []string{"host_name", "event"},
		message: "Host {host_name}: {event}",
	},
	HostInstallationCancelled: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: installation was cancelled",
	},
	HostInstallationReset: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: installation was reset",
	},
	HostInstallationStarted: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: installation begins",
	},
	HostInstallerArgsApplied: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: installer arguments were set",
	},
	HostLogsUploaded: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name}: logs arrived",
	},
	HostMediaDisconnected: {
		severity: model.SeverityError,
		message:  "The virtual media a host booted from is gone",
	},
	HostRegistrationFailed: {
		severity: model.SeverityError, props: []string{"message"},
		message: "A host could not register: {message}",
	},
	HostRegistrationSucceeded: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} registered",
	},
	HostRegistrationUnproven: {
		severity: model.SeverityWarning, props: []string{"host_name", "address", "reason"},
		message: "Host {host_name}: a machine at {address} registered as this host, and did not prove it: {reason}",
	},
	HostApproved: {
		severity: model.SeverityInfo, props: []string{"host_name", "until"},
		message: "Host {host_name}: the next machine that registers as this host until {until} is approved",
	},
	HostRoleUpdated: {
		severity: model.SeverityInfo, props: []string{"host_name", "suggested_role"},
		message: "Host {host_name} becomes {suggested_role}",
	},
	HostStageTimedOut: {
		severity: model.SeverityWarning, props: []string{"host_name", "stage", "minutes"},
		message: "Host {host_name}: stage {stage} takes longer than {minutes} minutes",
	},
	HostStatusUpdated: {
		severity: model.SeverityInfo, props: []string{"severity", "host_name", "src_status", "new_status", "info"},
		message: "Host {host_name} went from {src_status} to {new_status}: {info}",
	},
	HostUnbindSucceeded: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} was taken out of its cluster",
	},
	HostValidationFailed: {
		severity: model.SeverityWarning, props: []string{"host_name", "validation_id", "failure_message"},
		message: "Host {host_name}: validation {validation_id} fails: {failure_message}",
	},
	HostValidationFixed: {
		severity: model.SeverityInfo, props: []string{"host_name", "validation_id"},
		message: "Host {host_name}: validation {validation_id} passes now",
	},
	ImageStatusUpdated: {
		severity: model.SeverityInfo, props: []string{"host_name", "image_status", "result", "info"},
		message: "Host {host_name}: image {image_status} {result} {info}",
	},
	UpgradeAgentFailed: {
		severity: model.SeverityError, props: []string{"host_name", "agent_image"},
		message: "Host {host_name}: the agent could not become {agent_image}",
	},
	UpgradeAgentFinished: {
		severity: model.SeverityInfo, props: []string{"host_name", "agent_image"},
		message: "Host {host_name}: the agent is {agent_image} now",
	},
	UpgradeAgentStarted: {
		severity: model.SeverityInfo, props: []string{"host_name", "agent_image"},
		message: "Host {host_name}: the agent becomes {agent_image}",
	},
	UpgradeAgentRefused: {
		severity: model.SeverityError, props: []string{"host_name", "agent_image", "reason"},
		message: "Host {host_name}: the agent keeps its program and refuses {agent_image}: {reason}",
	},
	UserRequiredCompleteInstallationReset: {
		severity: model.SeverityInfo, props: []string{"host_name"},
		message: "Host {host_name} has to be booted from the discovery image to complete the reset",
	},
	ImageInfoUpdated: {
		severity: model.SeverityInfo, props: []string{"details"},
		message: "Discovery image was updated: {details}",
	},
	InfraEnvDeregistered: {
		severity: model.SeverityInfo,
		message:  "InfraEnv was deleted",
	},
	InfraEnvRegistered: {
		severity: model.SeverityInfo,
		message:  "InfraEnv was defined",
	},
}
