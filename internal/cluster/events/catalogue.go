package events

import "slipway/internal/model"

// Name is the name of an event, as clients of the API know it.
type Name string

// The events (contract/events.md).
const (
	AfterInactivityClusterDeregistered      Name = "after_inactivity_cluster_deregistered"
	ApiIngressVIPTimedOut                   Name = "api_ingress_vip_timed_out"
	ApiIngressVIPUpdated                    Name = "api_ingress_vip_updated"
	CancelInstallCommitFailed               Name = "cancel_install_commit_failed"
	CancelInstallStartFailed                Name = "cancel_install_start_failed"
	CancelInstallationFailed                Name = "cancel_installation_failed"
	ClusterDegradedOLMOperatorsFailed       Name = "cluster_degraded_OLM_operators_failed"
	ClusterDeregisterFailed                 Name = "cluster_deregister_failed"
	ClusterDeregistered                     Name = "cluster_deregistered"
	ClusterFinalizingStageUpdated           Name = "cluster_finalizing_stage_updated"
	ClusterInstallationCanceled             Name = "cluster_installation_canceled"
	ClusterInstallationCompleted            Name = "cluster_installation_completed"
	ClusterInstallationFailed               Name = "cluster_installation_failed"
	ClusterInstallationReset                Name = "cluster_installation_reset"
	ClusterLogsUploaded                     Name = "cluster_logs_uploaded"
	ClusterOperatorReport                   Name = "cluster_operator_report"
	ClusterOperatorStatus                   Name = "cluster_operator_status"
	ClusterPrepareInstallationStarted       Name = "cluster_prepare_installation_started"
	ClusterRegistrationSucceeded            Name = "cluster_registration_succeeded"
	ClusterStatusUpdated                    Name = "cluster_status_updated"
	ClusterValidationFailed                 Name = "cluster_validation_failed"
	ClusterValidationFixed                  Name = "cluster_validation_fixed"
	ClustersPermanentlyDeleted              Name = "clusters_permanently_deleted"
	ExpiredImageDeleted                     Name = "expired_image_deleted"
	FinalizingStageTimedOut                 Name = "finalizing_stage_timed_out"
	InactiveClustersDeregistered            Name = "inactive_clusters_deregistered"
	InstallConfigApplied                    Name = "install_config_applied"
	InstallationPreparingTimedOut           Name = "installation_preparing_timed_out"
	PrepareInstallationFailed               Name = "prepare_installation_failed"
	ProxySettingsChanged                    Name = "proxy_settings_changed"
	ResetInstallationFailed                 Name = "reset_installation_failed"
	ValidationsIgnored                      Name = "validations_ignored"
	DiskSpeedSlowerThanSupported            Name = "disk_speed_slower_than_supported"
	HostApprovedUpdated                     Name = "host_approved_updated"
	HostBindFailed                          Name = "host_bind_failed"
	HostBindSucceeded                       Name = "host_bind_succeeded"
	HostBootLogsUploaded                    Name = "host_boot_logs_uploaded"
	HostBootstrapSet                        Name = "host_bootstrap_set"
	HostCancelInstallationFailed            Name = "host_cancel_installation_failed"
	HostDeregistered                        Name = "host_deregistered"
	HostDiscoveryIgnitionConfigApplied      Name = "host_discovery_ignition_config_applied"
	HostInstallProgressUpdated              Name = "host_install_progress_updated"
	HostInstallationCancelled               Name = "host_installation_cancelled"
	HostInstallationReset                   Name = "host_installation_reset"
	HostInstallationResetFailed             Name = "host_installation_reset_failed"
	HostInstallationStarted                 Name = "host_installation_started"
	HostInstallerArgsApplied                Name = "host_installer_args_applied"
	HostLogsUploaded                        Name = "host_logs_uploaded"
	HostMediaDisconnected                   Name = "host_media_disconnected"
	HostRegistrationFailed                  Name = "host_registration_failed"
	HostRegistrationSettingPropertiesFailed Name = "host_registration_setting_properties_failed"
	HostRegistrationSucceeded               Name = "host_registration_succeeded"
	HostResetFetchFailed                    Name = "host_reset_fetch_failed"
	HostRoleUpdated                         Name = "host_role_updated"
	HostSetStatusFailed                     Name = "host_set_status_failed"
	HostStageTimedOut                       Name = "host_stage_timed_out"
	HostStatusUpdated                       Name = "host_status_updated"
	HostUnbindFailed                        Name = "host_unbind_failed"
	HostUnbindSucceeded                     Name = "host_unbind_succeeded"
	HostValidationFailed                    Name = "host_validation_failed"
	HostValidationFixed                     Name = "host_validation_fixed"
	ImageStatusUpdated                      Name = "image_status_updated"
	QuickDiskFormatPerformed                Name = "quick_disk_format_performed"
	QuickDiskFormatSkipped                  Name = "quick_disk_format_skipped"
	RebootsForNode                          Name = "reboots_for_node"
	UpgradeAgentFailed                      Name = "upgrade_agent_failed"
	UpgradeAgentFinished                    Name = "upgrade_agent_finished"
	UpgradeAgentStarted                     Name = "upgrade_agent_started"
	UserRequiredCompleteInstallationReset   Name = "user_required_complete_installation_reset"
	ExistingImageReused                     Name = "existing_image_reused"
	GenerateImageFetchFailed                Name = "generate_image_fetch_failed"
	GenerateImageFormatFailed               Name = "generate_image_format_failed"
	GenerateMinimalISOFailed                Name = "generate_minimal_iso_failed"
	IgnitionConfigImageGenerated            Name = "ignition_config_image_generated"
	ImageInfoUpdated                        Name = "image_info_updated"
	InfraEnvDeregisterFailed                Name = "infra_env_deregister_failed"
	InfraEnvDeregistered                    Name = "infra_env_deregistered"
	InfraEnvRegistered                      Name = "infra_env_registered"
	InfraEnvRegistrationFailed              Name = "infra_env_registration_failed"
	UploadImageFailed                       Name = "upload_image_failed"
)

// entry is one event of the catalogue. Words in braces in the message are properties.
type entry struct {
	severity model.Severity
	category string
	props    []string
	message  string
}

// catalogue holds every event. Names, severities and properties are the contract's,
// the sentences are ours.
var catalogue = map[Name]entry{
	AfterInactivityClusterDeregistered:      {model.SeverityInfo, "user", []string{}, "Cluster was deleted: nobody used it for a long time"},
	ApiIngressVIPTimedOut:                   {model.SeverityWarning, "user", []string{"timeout_interval"}, "No address for the API and ingress came within {timeout_interval} seconds"},
	ApiIngressVIPUpdated:                    {model.SeverityInfo, "user", []string{"api_vip", "ingress_vip"}, "API address is {api_vip}, ingress address is {ingress_vip}"},
	CancelInstallCommitFailed:               {model.SeverityError, "user", []string{}, "Cancelling the installation could not be saved"},
	CancelInstallStartFailed:                {model.SeverityError, "user", []string{}, "Cancelling the installation could not begin"},
	CancelInstallationFailed:                {model.SeverityError, "user", []string{"error"}, "Cancelling the installation failed: {error}"},
	ClusterDegradedOLMOperatorsFailed:       {model.SeverityWarning, "user", []string{"failed_operators"}, "Cluster is installed, but these operators failed: {failed_operators}"},
	ClusterDeregisterFailed:                 {model.SeverityError, "user", []string{"error"}, "Cluster could not be deleted: {error}"},
	ClusterDeregistered:                     {model.SeverityInfo, "user", []string{}, "Cluster was deleted"},
	ClusterFinalizingStageUpdated:           {model.SeverityInfo, "user", []string{"finalizing_stage"}, "Finalizing: {finalizing_stage}"},
	ClusterInstallationCanceled:             {model.SeverityInfo, "user", []string{}, "Installation was cancelled"},
	ClusterInstallationCompleted:            {model.SeverityInfo, "user", []string{}, "Cluster is installed"},
	ClusterInstallationFailed:               {model.SeverityCritical, "user", []string{"failure_reason"}, "Installation failed: {failure_reason}"},
	ClusterInstallationReset:                {model.SeverityInfo, "user", []string{}, "Installation was reset"},
	ClusterLogsUploaded:                     {model.SeverityInfo, "user", []string{}, "Logs of the cluster arrived"},
	ClusterOperatorReport:                   {model.SeverityInfo, "user", []string{"report"}, "Operators of the cluster: {report}"},
	ClusterOperatorStatus:                   {model.SeverityInfo, "user", []string{"operator_name", "status", "status_info"}, "Operator {operator_name} is {status}: {status_info}"},
	ClusterPrepareInstallationStarted:       {model.SeverityInfo, "user", []string{}, "Preparing the installation"},
	ClusterRegistrationSucceeded:            {model.SeverityInfo, "user", []string{"cluster_kind"}, "Cluster was defined (kind {cluster_kind})"},
	ClusterStatusUpdated:                    {model.SeverityInfo, "user", []string{"cluster_status", "status_info"}, "Cluster is {cluster_status}: {status_info}"},
	ClusterValidationFailed:                 {model.SeverityWarning, "user", []string{"validation_id", "validation_msg", "failure_message"}, "Cluster validation {validation_id} fails: {validation_msg}"},
	ClusterValidationFixed:                  {model.SeverityInfo, "user", []string{"validation_id", "validation_msg"}, "Cluster validation {validation_id} passes now"},
	ClustersPermanentlyDeleted:              {model.SeverityInfo, "user", []string{"message"}, "Deleted clusters were removed for good: {message}"},
	ExpiredImageDeleted:                     {model.SeverityInfo, "user", []string{}, "A discovery image that had expired was deleted"},
	FinalizingStageTimedOut:                 {model.SeverityWarning, "user", []string{"stage", "minutes"}, "Finalizing stage {stage} takes longer than {minutes} minutes"},
	InactiveClustersDeregistered:            {model.SeverityInfo, "user", []string{"message"}, "Inactive clusters were deleted: {message}"},
	InstallConfigApplied:                    {model.SeverityInfo, "user", []string{}, "Overrides of the install-config were set"},
	InstallationPreparingTimedOut:           {model.SeverityWarning, "user", []string{"reason"}, "Preparing the installation took too long: {reason}"},
	PrepareInstallationFailed:               {model.SeverityWarning, "user", []string{"error"}, "Preparing the installation failed: {error}"},
	ProxySettingsChanged:                    {model.SeverityInfo, "user", []string{}, "Proxy settings were changed"},
	ResetInstallationFailed:                 {model.SeverityError, "user", []string{"error"}, "Resetting the installation failed: {error}"},
	ValidationsIgnored:                      {model.SeverityInfo, "user", []string{}, "Some failing validations are ignored for this cluster"},
	DiskSpeedSlowerThanSupported:            {model.SeverityWarning, "user", []string{"host_disk", "fdatasync_duration"}, "Disk {host_disk} takes {fdatasync_duration} ms to sync: etcd needs a faster one"},
	HostApprovedUpdated:                     {model.SeverityInfo, "user", []string{"host_name", "approved_value"}, "Host {host_name}: approval is now {approved_value}"},
	HostBindFailed:                          {model.SeverityError, "user", []string{"message"}, "Host could not be bound: {message}"},
	HostBindSucceeded:                       {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} was bound to its cluster"},
	HostBootLogsUploaded:                    {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: boot logs arrived"},
	HostBootstrapSet:                        {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} carries the bootstrap services"},
	HostCancelInstallationFailed:            {model.SeverityError, "user", []string{"host_name", "error"}, "Host {host_name}: cancelling failed: {error}"},
	HostDeregistered:                        {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} was removed"},
	HostDiscoveryIgnitionConfigApplied:      {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: discovery Ignition was changed"},
	HostInstallProgressUpdated:              {model.SeverityInfo, "user", []string{"host_name", "event"}, "Host {host_name}: {event}"},
	HostInstallationCancelled:               {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: installation was cancelled"},
	HostInstallationReset:                   {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: installation was reset"},
	HostInstallationResetFailed:             {model.SeverityError, "user", []string{"host_name", "error"}, "Host {host_name}: resetting failed: {error}"},
	HostInstallationStarted:                 {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: installation begins"},
	HostInstallerArgsApplied:                {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: installer arguments were set"},
	HostLogsUploaded:                        {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name}: logs arrived"},
	HostMediaDisconnected:                   {model.SeverityError, "user", []string{}, "The virtual media a host booted from is gone"},
	HostRegistrationFailed:                  {model.SeverityError, "user", []string{"message"}, "A host could not register: {message}"},
	HostRegistrationSettingPropertiesFailed: {model.SeverityError, "user", []string{}, "Settings of a registering host could not be saved"},
	HostRegistrationSucceeded:               {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} registered"},
	HostResetFetchFailed:                    {model.SeverityError, "user", []string{"host_name"}, "Host {host_name}: could not be read for its reset"},
	HostRoleUpdated:                         {model.SeverityInfo, "user", []string{"host_name", "suggested_role"}, "Host {host_name} becomes {suggested_role}"},
	HostSetStatusFailed:                     {model.SeverityError, "user", []string{"host_name", "error"}, "Host {host_name}: status could not be saved: {error}"},
	HostStageTimedOut:                       {model.SeverityWarning, "user", []string{"host_name", "stage", "minutes"}, "Host {host_name}: stage {stage} takes longer than {minutes} minutes"},
	HostStatusUpdated:                       {model.SeverityInfo, "user", []string{"severity", "host_name", "src_status", "new_status", "info"}, "Host {host_name} went from {src_status} to {new_status}: {info}"},
	HostUnbindFailed:                        {model.SeverityError, "user", []string{"message"}, "Host could not be taken out of its cluster: {message}"},
	HostUnbindSucceeded:                     {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} was taken out of its cluster"},
	HostValidationFailed:                    {model.SeverityWarning, "user", []string{"host_name", "validation_id", "failure_message"}, "Host {host_name}: validation {validation_id} fails: {failure_message}"},
	HostValidationFixed:                     {model.SeverityInfo, "user", []string{"host_name", "validation_id"}, "Host {host_name}: validation {validation_id} passes now"},
	ImageStatusUpdated:                      {model.SeverityInfo, "user", []string{"host_name", "image_status", "result", "info"}, "Host {host_name}: image {image_status} {result} {info}"},
	QuickDiskFormatPerformed:                {model.SeverityInfo, "user", []string{"host_name", "disk_name", "disk_id"}, "Host {host_name}: the start of disk {disk_name} ({disk_id}) is wiped so that it does not boot"},
	QuickDiskFormatSkipped:                  {model.SeverityInfo, "user", []string{"host_name", "disk_name", "disk_id"}, "Host {host_name}: disk {disk_name} ({disk_id}) is left as it is"},
	RebootsForNode:                          {model.SeverityInfo, "user", []string{"node_name", "reboots"}, "Node {node_name} has booted {reboots} times"},
	UpgradeAgentFailed:                      {model.SeverityError, "user", []string{"host_name", "agent_image"}, "Host {host_name}: the agent could not become {agent_image}"},
	UpgradeAgentFinished:                    {model.SeverityInfo, "user", []string{"host_name", "agent_image"}, "Host {host_name}: the agent is {agent_image} now"},
	UpgradeAgentStarted:                     {model.SeverityInfo, "user", []string{"host_name", "agent_image"}, "Host {host_name}: the agent becomes {agent_image}"},
	UserRequiredCompleteInstallationReset:   {model.SeverityInfo, "user", []string{"host_name"}, "Host {host_name} has to be booted from the discovery image to complete the reset"},
	ExistingImageReused:                     {model.SeverityInfo, "user", []string{"image_type"}, "An image of type {image_type} that exists already is used"},
	GenerateImageFetchFailed:                {model.SeverityError, "user", []string{}, "The discovery image could not be read"},
	GenerateImageFormatFailed:               {model.SeverityError, "user", []string{}, "The discovery image has a format that cannot be used"},
	GenerateMinimalISOFailed:                {model.SeverityError, "user", []string{}, "The minimal discovery image could not be made"},
	IgnitionConfigImageGenerated:            {model.SeverityInfo, "user", []string{"details"}, "Discovery image was configured: {details}"},
	ImageInfoUpdated:                        {model.SeverityInfo, "user", []string{"details"}, "Discovery image was updated: {details}"},
	InfraEnvDeregisterFailed:                {model.SeverityError, "user", []string{"error"}, "Discovery environment could not be deleted: {error}"},
	InfraEnvDeregistered:                    {model.SeverityInfo, "user", []string{}, "Discovery environment was deleted"},
	InfraEnvRegistered:                      {model.SeverityInfo, "user", []string{}, "Discovery environment was defined"},
	InfraEnvRegistrationFailed:              {model.SeverityError, "user", []string{"error"}, "Discovery environment could not be defined: {error}"},
	UploadImageFailed:                       {model.SeverityError, "user", []string{}, "The discovery image could not be stored"},
}
