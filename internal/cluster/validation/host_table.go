package validation

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// silentStages are the stages in which a host reboots and its agent does not run: rules that depend on the
// agent are skipped.
var silentStages = []model.Stage{
	model.StageRebooting, model.StageWaitingForIgnition, model.StageConfiguring,
	model.StageJoined, model.StageDone,
}

// hostTable is the table of docs/reference/validation-rules.md, "Rules of a host" without
// the operators' rules, in its order: clients show results in it.
var hostTable = []HostRule{
	{
		ID: wire.HostValidationIDConnected, Category: CategoryNetwork, Unbound: true, HiddenIn: silentStages, check: connected,
		Why: "a silent host takes no steps",
	},
	{
		ID: wire.HostValidationIDMediaConnected, Category: CategoryNetwork, Unbound: true, HiddenIn: silentStages, check: mediaConnected,
		Why: "the live system loads programs from its media on demand and stops when it is gone",
	},
	{
		ID: wire.HostValidationIDHasInventory, Category: CategoryHardware, Unbound: true, check: hasInventory,
		Why: "every other rule is computed from the inventory",
	},
	{
		ID: wire.HostValidationIDInventoryNotPartiallyTruncated, Category: CategoryHardware, Unbound: true, check: notPartiallyTruncated,
		Why: "a cut list may hide the disk or NIC the user wants; a warning only",
	},
	{
		ID: wire.HostValidationIDInventoryNotFullyTruncated, Category: CategoryHardware, Unbound: true, check: notFullyTruncated,
		Why: "without lists of disks and NICs nothing can be evaluated",
	},
	{
		ID: wire.HostValidationIDHasMinCPUCores, Category: CategoryHardware, Unbound: true, check: minCPU,
		Why: "a host below the smallest role fits none",
	},
	{
		ID: wire.HostValidationIDHasMinMemory, Category: CategoryHardware, Unbound: true, check: minMemory,
		Why: "a host below the smallest role fits none",
	},
	{
		ID: wire.HostValidationIDHasMinValidDisks, Category: CategoryHardware, Unbound: true, check: minDisks,
		Why: "the system needs a disk to be written to",
	},
	{
		ID: wire.HostValidationIDHasCPUCoresForRole, Category: CategoryHardware, check: roleCPU,
		Why: "the role's pods request more than smaller hosts have",
	},
	{
		ID: wire.HostValidationIDHasMemoryForRole, Category: CategoryHardware, check: roleMemory,
		Why: "the role's pods request more than smaller hosts have",
	},
	{
		ID: wire.HostValidationIDMachineCidrDefined, Category: CategoryNetwork, check: machineNetworkDefined,
		Why: "node addresses are chosen from the machine network",
	},
	{
		ID: wire.HostValidationIDBelongsToMachineCidr, Category: CategoryNetwork, check: inMachineNetworks,
		Why: "a host outside the machine network cannot hold a virtual address",
	},
	{
		ID: wire.HostValidationIDHostnameUnique, Category: CategoryHardware, check: hostnameUnique,
		Why: "the node name is the host name, and nodes of one name replace each other",
	},
	{
		ID: wire.HostValidationIDHostnameValid, Category: CategoryHardware, Unbound: true, check: hostnameValid,
		Why: "the API server refuses nodes whose name is no DNS name",
	},
	{
		ID: wire.HostValidationIDIgnitionDownloadable, Category: CategoryNetwork, check: ignitionDownloadable,
		Why: "a day-2 host gets its configuration from the existing cluster",
	},
	{
		ID: wire.HostValidationIDBelongsToMajorityGroup, Category: CategoryNetwork, check: inMajorityGroup,
		Why: "hosts that do not reach each other form no cluster",
	},
	{
		ID: wire.HostValidationIDMtuValid, Category: CategoryNetwork, check: mtuValid,
		Why: "a switch with a smaller MTU drops large packets silently; reported only",
	},
	{
		ID: wire.HostValidationIDValidPlatformNetworkSettings, Category: CategoryNetwork, Unbound: true, check: platformNetwork,
		Why: "OpenStack drops the traffic of virtual addresses it does not know",
	},
	{
		ID: wire.HostValidationIDNtpSynced, Category: CategoryNetwork, Unbound: true, HiddenIn: silentStages, check: ntpSynced,
		Why: "certificates are valid from a time on; reported only",
	},
	{
		ID: wire.HostValidationIDTimeSyncedBetweenHostAndService, Category: CategoryNetwork, Unbound: true, HiddenIn: silentStages,
		check: timeSynced,
		Why:   "a host whose clock is behind sees certificates that are not valid yet",
	},
	{
		ID: wire.HostValidationIDContainerImagesAvailable, Category: CategoryNetwork, Unbound: true, check: imagesAvailable,
		Why: "the installation pulls these images first",
	},
	{
		ID: wire.HostValidationIDSufficientInstallationDiskSpeed, Category: CategoryHardware, Unbound: true, check: diskSpeed,
		Why: "a disk that cannot be written to at all fails here instead of half way",
	},
	{
		ID: wire.HostValidationIDSufficientNetworkLatencyRequirementForRole, Category: CategoryNetwork, check: latency,
		Why: "etcd loses its leader over slow links",
	},
	{
		ID: wire.HostValidationIDSufficientPacketLossRequirementForRole, Category: CategoryNetwork, check: packetLoss,
		Why: "etcd loses its leader over lossy links",
	},
	{
		ID: wire.HostValidationIDHasDefaultRoute, Category: CategoryNetwork, Unbound: true, check: defaultRoute,
		Why: "the node address is chosen from the interface of the default route",
	},
	{
		ID: wire.HostValidationIDAPIDomainNameResolvedCorrectly, Category: CategoryNetwork, check: resolves(apiName),
		Why: "without managed networking the user's DNS must lead to the API",
	},
	{
		ID: wire.HostValidationIDAPIIntDomainNameResolvedCorrectly, Category: CategoryNetwork, check: resolves(apiIntName),
		Why: "kubelets reach the API by its internal name",
	},
	{
		ID: wire.HostValidationIDAppsDomainNameResolvedCorrectly, Category: CategoryNetwork, check: resolves(appsName),
		Why: "the console and its login are reached by this name",
	},
	{
		ID: wire.HostValidationIDReleaseDomainNameResolvedCorrectly, Category: CategoryNetwork, check: alwaysIrrelevant,
		Why: "clients know the id; a mirror or proxy makes the answer meaningless, so it is never evaluated",
	},
	{
		ID: wire.HostValidationIDDNSWildcardNotConfigured, Category: CategoryNetwork, check: noWildcardDNS,
		Why: "a wildcard answers for names the cluster expects not to exist",
	},
	{
		ID: wire.HostValidationIDCompatibleWithClusterPlatform, Category: CategoryHardware, check: platformSupported,
		Why: "the platform's drivers only start on its own machines",
	},
	{
		ID: wire.HostValidationIDDiskEncryptionRequirementsSatisfied, Category: CategoryHardware, check: diskEncryption,
		Why: "an encrypted disk cannot be opened without its key holder",
	},
	{
		ID: wire.HostValidationIDNonOverlappingSubnets, Category: CategoryNetwork, check: subnetsApart,
		Why: "with two ways into one network the node may choose either address",
	},
	{
		ID: wire.HostValidationIDVsphereDiskUUIDEnabled, Category: CategoryHardware, check: vsphereDiskUUID,
		Why: "the storage driver finds disks by their UUID",
	},
	{
		ID: wire.HostValidationIDCompatibleAgent, Category: CategoryHardware, Unbound: true, HiddenOnceStaged: true, check: agentVersion,
		Why: "another agent may not know the steps it will get",
	},
	{
		ID: wire.HostValidationIDNoSkipInstallationDisk, Category: CategoryHardware, Unbound: true, check: installationDiskFormatted,
		Why: "the installation disk is overwritten whatever the list says",
	},
	{
		ID: wire.HostValidationIDNoSkipMissingDisk, Category: CategoryHardware, Unbound: true, check: skippedDisksExist,
		Why: "a mistyped disk would be formatted after all",
	},
	{
		ID: wire.HostValidationIDNoIPCollisionsInNetwork, Category: CategoryNetwork, check: noCollision,
		Why: "traffic to a shared IP or MAC address reaches either machine",
	},
	{
		ID: wire.HostValidationIDNoIscsiNicBelongsToMachineCidr, Category: CategoryNetwork, check: iscsiApart,
		Why: "OVN takes the NIC of the machine network over and would cut the boot disk off",
	},
}

func alwaysIrrelevant(*hostCase) verdict { return irrelevant() }
