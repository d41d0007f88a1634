package answers

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// workersToFreeMasters is how many workers a cluster needs until its control plane can be kept free of other work
// (openshift/assisted-service, internal/common/common.go).
const workersToFreeMasters = 2

// ClusterView has the rest that is shown of a cluster, beside its row.
type ClusterView struct {
	Counts    model.HostCounts
	Operators []model.MonitoredOperator
	Secrets   bool // see addClusterSecrets
}

// Cluster maps a cluster to its format in the API, without hosts.
func Cluster(c *model.Cluster, view ClusterView) wire.Cluster {
	out := clusterIdentity(c)
	addClusterJoining(&out, c)
	addClusterNetworks(&out, c)
	addClusterInstallation(&out, c)
	addClusterSecrets(&out, c, view.Secrets)
	out.TotalHostCount, out.EnabledHostCount = int64(view.Counts.Total), int64(view.Counts.Enabled)
	out.ReadyHostCount = int64(view.Counts.Ready)
	out.SchedulableMastersForcedTrue = view.Counts.Workers < workersToFreeMasters
	out.Hosts = []wire.Host{}
	out.MonitoredOperators = Operators(c, view.Operators)
	return out
}

// addClusterSecrets adds the settings that are sealed in the database: passwords in overrides and addresses open other machines.
func addClusterSecrets(out *wire.Cluster, c *model.Cluster, secrets bool) {
	out.InstallConfigOverrides, out.HTTPProxy, out.HTTPSProxy = c.InstallConfigOverride, c.Proxy.HTTP, c.Proxy.HTTPS
	if !secrets {
		out.InstallConfigOverrides = redact.JSON(out.InstallConfigOverrides)
		out.HTTPProxy, out.HTTPSProxy = redact.Address(out.HTTPProxy), redact.Address(out.HTTPSProxy)
	}
	out.IgnitionEndpoint.URL = c.IgnitionEndpoint.URL
	if !secrets {
		out.IgnitionEndpoint.URL = redact.Address(c.IgnitionEndpoint.URL)
	}
}

func clusterIdentity(c *model.Cluster) wire.Cluster {
	out := wire.Cluster{
		Kind: wire.ClusterKind(c.Kind), ID: c.ID, Href: wire.BasePath + "/v2/clusters/" + c.ID.String(), Name: c.Name,
		UserName: c.UserName, OrgID: c.OrgID, EmailDomain: EmailDomain(c.UserName), Tags: c.Tags,
		OpenshiftVersion: c.OpenShiftVersion, OcpReleaseImage: c.ReleaseImage,
		CPUArchitecture: wire.ClusterCPUArchitecture(c.CPUArchitecture),
		BaseDNSDomain:   c.BaseDNSDomain, SSHPublicKey: c.SSHPublicKey, PullSecretSet: c.PullSecret.Reveal() != "",
		ControlPlaneCount: c.ControlPlaneCount, HighAvailabilityMode: wire.ClusterHighAvailabilityModeFull,
		Status: wire.ClusterStatus(c.Status), StatusInfo: c.StatusInfo,
		StatusUpdatedAt: wire.DateTime(c.StatusUpdatedAt), CreatedAt: wire.DateTime(c.CreatedAt), UpdatedAt: wire.DateTime(c.UpdatedAt),
		Platform: wire.Platform{Type: wire.PlatformType(c.Platform.Type), External: wire.PlatformExternal{
			PlatformName:           c.Platform.ExternalName,
			CloudControllerManager: wire.PlatformExternalCloudControllerManager(c.Platform.CloudControllerManager),
		}},
		Hyperthreading:     wire.ClusterHyperthreading(c.Hyperthreading),
		SchedulableMasters: c.SchedulableMasters,
		DiskEncryption: wire.DiskEncryption{
			EnableOn: wire.DiskEncryptionEnableOn(c.DiskEncryption.EnableOn),
			Mode:     wire.DiskEncryptionMode(c.DiskEncryption.Mode), TangServers: c.DiskEncryption.TangServers,
		},
		OperatorBundles: chosenBundles(c),
		FeatureUsage:    features.UsageText(c),
	}
	if c.OpenShiftClusterID != nil {
		out.OpenshiftClusterID = *c.OpenShiftClusterID
	}
	if c.SingleNode() {
		out.HighAvailabilityMode = wire.ClusterHighAvailabilityModeNone
	}
	if !c.DeletedAt.IsZero() {
		out.DeletedAt = wire.DateTime(c.DeletedAt)
	}
	return out
}

// EmailDomain returns the domain of a user name that is an email address.
func EmailDomain(user string) string {
	if _, domain, found := strings.Cut(user, "@"); found {
		return domain
	}
	return "Unknown"
}

// addClusterJoining adds what concerns hosts that join, and what the cluster ignores.
func addClusterJoining(out *wire.Cluster, c *model.Cluster) {
	out.Imported, out.APIVipDNSName = c.Imported, c.APIVIPDNSName
	out.IgnitionEndpoint = wire.IgnitionEndpoint{CaCertificate: c.IgnitionEndpoint.CACertificate}
	out.OrgSoftTimeoutsEnabled = c.OrgSoftTimeouts
	if c.IgnoredHostValidations != nil {
		out.IgnoredHostValidations = wire.Text(c.IgnoredHostValidations)
	}
	if c.IgnoredClusterValidations != nil {
		out.IgnoredClusterValidations = wire.Text(c.IgnoredClusterValidations)
	}
}

func addClusterNetworks(out *wire.Cluster, c *model.Cluster) {
	out.UserManagedNetworking, out.VipDhcpAllocation = c.UserManagedNetworking, c.VIPDHCPAllocation
	out.LoadBalancer.Type = wire.LoadBalancerType(c.LoadBalancer)
	out.NetworkType = wire.ClusterNetworkType(c.NetworkType)
	out.NoProxy = c.Proxy.NoProxy
	if sources := strings.Join(c.NTPSources, ","); c.NTPSourcesOnly {
		out.NtpSources = sources
	} else {
		out.AdditionalNtpSource = sources
	}
	out.APIVips, out.IngressVips = []wire.APIVip{}, []wire.IngressVip{}
	for _, v := range c.APIVIPs {
		out.APIVips = append(out.APIVips, wire.APIVip{
			ClusterID: c.ID, IP: v.IP.String(), Verification: wire.VipVerification(v.Verification),
		})
	}
	for _, v := range c.IngressVIPs {
		out.IngressVips = append(out.IngressVips, wire.IngressVip{
			ClusterID: c.ID, IP: v.IP.String(), Verification: wire.VipVerification(v.Verification),
		})
	}
	out.MachineNetworks, out.ServiceNetworks = []wire.MachineNetwork{}, []wire.ServiceNetwork{}
	out.ClusterNetworks, out.HostNetworks = []wire.ClusterNetwork{}, []wire.HostNetwork{}
	for _, n := range c.MachineNetworks {
		out.MachineNetworks = append(out.MachineNetworks, wire.MachineNetwork{ClusterID: c.ID, Cidr: n.String()})
	}
	for _, n := range c.ServiceNetworks {
		out.ServiceNetworks = append(out.ServiceNetworks, wire.ServiceNetwork{ClusterID: c.ID, Cidr: n.String()})
	}
	for _, n := range c.ClusterNetworks {
		out.ClusterNetworks = append(out.ClusterNetworks, wire.ClusterNetwork{
			ClusterID: c.ID, Cidr: n.CIDR.String(), HostPrefix: n.HostPrefix,
		})
	}
	for _, n := range c.HostNetworks {
		out.HostNetworks = append(out.HostNetworks, wire.HostNetwork{Cidr: n.CIDR.String(), HostIds: append([]uuid.UUID{}, n.HostIDs...)})
	}
}

func addClusterInstallation(out *wire.Cluster, c *model.Cluster) {
	out.ValidationsInfo = validation.Info(c.Validations)
	out.ConnectivityMajorityGroups = wire.Text(map[string]any{
		"majority_groups":        orEmptyMap(c.Connectivity.Majority),
		"l3_connected_addresses": orEmptyMap(c.Connectivity.L3ConnectedAddresses),
	})
	out.IPCollisions = wire.Text(orEmptyMap(c.Connectivity.IPCollisions))
	out.Progress = wire.ClusterProgressInfo{
		TotalPercentage:                         c.Progress.Total,
		PreparingForInstallationStagePercentage: c.Progress.Preparing,
		InstallingStagePercentage:               c.Progress.Installing,
		FinalizingStagePercentage:               c.Progress.Finalizing,
		FinalizingStage:                         wire.FinalizingStage(c.Progress.FinalizingStage),
		FinalizingStageStartedAt:                wire.DateTime(c.Progress.FinalizingStageStartedAt),
		FinalizingStageTimedOut:                 c.Progress.FinalizingStageTimedOut,
	}
	out.LastInstallationPreparation = wire.LastInstallationPreparation{
		Status: wire.LastInstallationPreparationStatus(c.LastPreparation.Status), Reason: c.LastPreparation.Reason,
	}
	out.InstallStartedAt, out.InstallCompletedAt = wire.DateTime(c.InstallStartedAt), wire.DateTime(c.InstallCompletedAt)
	out.LogsInfo = wire.LogsState(c.LogsInfo)
	out.ControllerLogsStartedAt = wire.DateTime(c.ControllerLogsStartedAt)
	out.ControllerLogsCollectedAt = wire.DateTime(c.ControllerLogsCollectedAt)
}

func operatorToWire(o model.MonitoredOperator) wire.MonitoredOperator {
	return wire.MonitoredOperator{
		ClusterID: o.ClusterID, Name: o.Name, OperatorType: wire.OperatorType(o.Type), Version: o.Version,
		Namespace: o.Namespace, SubscriptionName: o.SubscriptionName, Properties: o.Properties,
		TimeoutSeconds: int(o.Timeout / time.Second), Status: wire.OperatorStatus(o.Status), StatusInfo: o.StatusInfo,
		StatusUpdatedAt: wire.DateTime(o.StatusUpdatedAt),
	}
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// Operators lists the monitored operators of a cluster with the origin of each.
func Operators(c *model.Cluster, list []model.MonitoredOperator) []wire.MonitoredOperator {
	out := make([]wire.MonitoredOperator, len(list))
	for i, o := range list {
		out[i] = operatorToWire(o)
		out[i].Bundles, out[i].SourceBundles, out[i].DependencyOnly = operators.Origin(c, o.Name)
	}
	return out
}

func chosenBundles(c *model.Cluster) []wire.BundleCreateParams {
	out := make([]wire.BundleCreateParams, len(c.OperatorBundles))
	for i, b := range c.OperatorBundles {
		out[i] = wire.BundleCreateParams{ID: b.ID}
		if len(b.Optional) > 0 {
			out[i].OptionalOperators = &b.Optional
		}
	}
	return out
}
