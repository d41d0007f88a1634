package steps

import (
	"time"

	"slipway/internal/wire"
)

// The fine steps of our own agent: one step for each stage of an installation, where the contract has a single install step. Each takes one
// argument, the JSON of an InstallCmdRequest.
const (
	DiskClean        wire.StepType = "disk-clean"
	BootstrapStart   wire.StepType = "bootstrap-start"
	IgnitionFetch    wire.StepType = "ignition-fetch"
	ImageWrite       wire.StepType = "image-write"
	ControlPlaneWait wire.StepType = "control-plane-wait"
	BootkubeWait     wire.StepType = "bootkube-wait"
	ControllerWait   wire.StepType = "controller-wait"
	Reboot           wire.StepType = "reboot"
)

// day limits steps whose end depends on other hosts; the workflow has its own limits.
const day = 24 * time.Hour

// installNeeds lists the inputs of an installation's argument.
var installNeeds = Needs{Cluster: true, Release: true}

// catalogue lists every step. The order of the checks is part of the workflows' histories.
var catalogue = []Step{
	// Discovery: package duesteps says when they are due.
	{
		Type: wire.StepTypeInventory, Does: "reports hardware, disks and addresses",
		Timeout: 5 * time.Minute, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeConnectivityCheck, Does: "pings the other hosts of the cluster",
		Timeout: 15 * time.Minute, Needs: Needs{Cluster: true, Hosts: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeFreeNetworkAddresses, Does: "scans the host's IPv4 networks for unused addresses",
		Timeout: 15 * time.Minute, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeNtpSynchronizer, Does: "adds NTP sources and reports their state",
		Timeout: 2 * time.Minute, Needs: Needs{InfraEnv: true, Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeDomainResolution, Does: "resolves the names of the cluster",
		Timeout: 2 * time.Minute, Needs: Needs{Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeVerifyVips, Does: "looks for other machines that answer at the virtual addresses",
		Timeout: 2 * time.Minute, Needs: Needs{Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeTangConnectivityCheck, Does: "fetches the keys of the Tang servers",
		Timeout: 5 * time.Minute, Needs: Needs{Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeAPIVipConnectivityCheck, Does: "downloads Ignition from the API address of an existing cluster",
		Timeout: 2 * time.Minute, Needs: Needs{Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeDhcpLeaseAllocate, Does: "leases the virtual addresses from a DHCP server",
		Timeout: 5 * time.Minute, Needs: Needs{Cluster: true}, Reply: ReplyDiscovery,
	},
	{
		Type: wire.StepTypeUpgradeAgent, Does: "replaces the agent by the service's version",
		Timeout: 20 * time.Minute, ChangesHost: true, Reply: ReplyPreparation,
	},
	{
		Type: wire.StepTypeLogsGather, Does: "collects logs and sends them",
		Timeout: time.Hour, Needs: Needs{Cluster: true, Hosts: true}, Reply: ReplyResult,
	},
	{
		Type: wire.StepTypeStopInstallation, Does: "ends every step that changes the host",
		Timeout: 5 * time.Minute, WithoutMedia: true, Argument: ArgumentNone, Reply: ReplyResult,
	},

	// Preparation: the workflow of a host runs all of them together.
	{
		Type: wire.StepTypeInstallationDiskSpeedCheck, Does: "measures synchronous writes to the installation disk",
		Timeout: 20 * time.Minute, WritesDisk: true, ChangesHost: true, Check: true, Reply: ReplyPreparation,
	},
	{
		Type: wire.StepTypeContainerImageAvailability, Does: "pulls the images the installation needs",
		Timeout: time.Hour, Check: true, Needs: Needs{Release: true}, Reply: ReplyPreparation,
	},

	// Installation: stages.go says in which stage.
	{
		Type: DiskClean, Agents: OurAgent,
		Does:    "formats the disks to be formatted, removes LVM, RAID and signatures from the installation disk",
		Timeout: 30 * time.Minute, WritesDisk: true, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: BootstrapStart, Agents: OurAgent, Does: "applies `bootstrap.ign`, starts bootkube and its helpers",
		Timeout: time.Hour, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: IgnitionFetch, Agents: OurAgent, Does: "stores the host's Ignition",
		Timeout: 30 * time.Minute, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: ImageWrite, Agents: OurAgent, Does: "runs `coreos-installer install`; reports percentages by `PUT .../progress`",
		Timeout: 6 * time.Hour, WritesDisk: true, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: ControlPlaneWait, Agents: OurAgent,
		Does:    "bootstrap host: waits until two other masters, or all existing ones, are ready nodes",
		Timeout: day, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: BootkubeWait, Agents: OurAgent, Does: "waits until bootkube is done",
		Timeout: day, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: ControllerWait, Agents: OurAgent, Does: "waits until the controller runs in the new cluster",
		Timeout: day, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: Reboot, Agents: OurAgent,
		Does:    "sends logs, sets the boot order, replies, and then reboots in a minute; a single node at once",
		Timeout: 30 * time.Minute, ChangesHost: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},
	{
		Type: wire.StepTypeInstall, Does: "runs all stages up to the reboot",
		Timeout: day, WritesDisk: true, ChangesHost: true, Exclusive: true, Argument: ArgumentInstall, Needs: installNeeds, Reply: ReplyResult,
	},

	// Reclaim: back to the InfraEnv.
	{
		Type: wire.StepTypeDownloadBootArtifacts, Does: "puts the discovery image beside the installed system",
		Timeout: time.Hour, ChangesHost: true, WithoutMedia: true, Needs: Needs{BootArtifacts: true}, Reply: ReplyResult,
	},
	{
		Type: wire.StepTypeRebootForReclaim, Does: "boots the discovery image from the disk",
		Timeout: time.Minute, ChangesHost: true, WithoutMedia: true, Reply: ReplyResult,
	},

	// Of the v2 API only: this service does not command them.
	{
		Type: wire.StepTypeExecute, Agents: OtherAgents, Does: "runs a command", Reply: ReplyResult,
	},
	{
		Type: wire.StepTypeNextStepRunner, Agents: OtherAgents, Does: "starts the agent's loop",
	},
}
