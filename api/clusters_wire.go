package api

import (
	"strings"
	"time"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// workersToFreeMasters is how many workers a cluster needs until its control plane can be kept free of other work
// (openshift/assisted-service, internal/common/common.go).
const workersToFreeMasters = 2

// clusterView holds a cluster's data for the API besides its hosts.
type clusterView struct {
	cluster   *model.Cluster
	counts    store.HostCounts
	operators []model.MonitoredOperator
	// secrets are shown: see redactCluster.
	secrets bool
}

// toWire maps a cluster to its format in the API.
func (v clusterView) toWire() wire.Cluster {
	out := clusterIdentity(v.cluster)
	addClusterJoining(&out, v.cluster)
	addClusterNetworks(&out, v.cluster)
	addClusterInstallation(&out, v.cluster)
	out.TotalHostCount, out.EnabledHostCount = int64(v.counts.Total), int64(v.counts.Enabled)
	out.ReadyHostCount = int64(v.counts.Ready)
	out.SchedulableMastersForcedTrue = v.counts.Workers < workersToFreeMasters
	out.Hosts = []wire.Host{} // see wholeCluster
	out.MonitoredOperators = operatorsToWire(v.cluster, v.operators)
	if !v.secrets {
		redactCluster(&out)
	}
	return out
}

func clusterIdentity(c *model.Cluster) wire.Cluster {
	out := wire.Cluster{
		Kind: wire.ClusterKind(c.Kind), ID: c.ID, Href: wire.BasePath + "/v2/clusters/" + c.ID.String(), Name: c.Name,
		UserName: c.UserName, OrgID: c.OrgID, EmailDomain: emailDomain(c.UserName), Tags: c.Tags,
		OpenshiftVersion: c.OpenShiftVersion, OcpReleaseImage: c.ReleaseImage, OpenshiftClusterID: deref(c.OpenShiftClusterID),
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
		InstallConfigOverrides: c.InstallConfigOverride, OperatorBundles: chosenBundles(c),
		FeatureUsage: features.UsageText(c),
	}
	if c.SingleNode() {
		out.HighAvailabilityMode = wire.ClusterHighAvailabilityModeNone
	}
	if !c.DeletedAt.IsZero() {
		out.DeletedAt = wire.DateTime(c.DeletedAt)
	}
	return out
}

// emailDomain returns the domain of a user name that is an email address.
func emailDomain(user string) string {
	if _, domain, found := strings.Cut(user, "@"); found {
		return domain
	}
	return "Unknown"
}

// addClusterJoining adds what concerns hosts that join, and what the cluster ignores.
func addClusterJoining(out *wire.Cluster, c *model.Cluster) {
	out.Imported, out.APIVipDNSName = c.Imported, c.APIVIPDNSName
	out.IgnitionEndpoint = wire.IgnitionEndpoint{URL: c.IgnitionEndpoint.URL, CaCertificate: c.IgnitionEndpoint.CACertificate}
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
	out.HTTPProxy, out.HTTPSProxy, out.NoProxy = c.Proxy.HTTP, c.Proxy.HTTPS, c.Proxy.NoProxy
	if sources := joined(c.NTPSources); c.NTPSourcesOnly {
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
		out.HostNetworks = append(out.HostNetworks, wire.HostNetwork{Cidr: n.CIDR.String(), HostIds: orEmpty(n.HostIDs)})
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

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
