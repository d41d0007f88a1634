package answers

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/steps"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// anyone is the name of users where requests need no credential, see auth.Admin.
const anyone = "admin"

// HostView is how much of a host is shown.
type HostView struct {
	SingleNode   bool // of a cluster with one control plane host
	Inventory    bool
	Connectivity bool
	Secrets      bool // see addHostSecrets
}

// Whole shows everything of a host but secrets.
var Whole = HostView{Inventory: true, Connectivity: true}

// Host maps a host to its format in the API.
func Host(h *model.Host, view HostView) wire.Host {
	out := wire.Host{
		Kind: wire.HostKind(h.Kind), ID: h.ID, InfraEnvID: h.InfraEnvID, Href: hostHref(h),
		Status: wire.HostStatus(h.Status), StatusInfo: h.StatusInfo, StatusUpdatedAt: wire.DateTime(h.StatusUpdatedAt),
		CreatedAt: wire.DateTime(h.CreatedAt), UpdatedAt: wire.DateTime(h.UpdatedAt),
		RegisteredAt: wire.DateTime(h.RegisteredAt), CheckedInAt: wire.DateTime(h.CheckedInAt), Timestamp: int(h.Timestamp),
		Role: wire.HostRole(h.Role), SuggestedRole: wire.HostRole(cmp.Or(h.SuggestedRole, h.Role)), Bootstrap: h.Bootstrap,
		RequestedHostname: HostName(h), UserName: cmp.Or(h.UserName, anyone),
		DiscoveryAgentVersion: h.DiscoveryAgentVersion,
		MediaStatus:           wire.HostMediaStatus(h.MediaStatus), ConnectionTimedOut: h.ConnectionTimedOut,
		ValidationsInfo: validation.Info(h.Validations),
		LogsInfo:        wire.LogsState(h.LogsInfo),
		LogsStartedAt:   wire.DateTime(h.LogsStartedAt), LogsCollectedAt: wire.DateTime(h.LogsCollectedAt),
	}
	if h.ClusterID != nil {
		out.ClusterID = *h.ClusterID
	}
	if !h.DeletedAt.IsZero() {
		out.DeletedAt = wire.DateTime(h.DeletedAt)
	}
	addHostProgress(&out, h, view)
	addHostFacts(&out, h, view)
	addHostChoices(&out, h)
	addHostSecrets(&out, h, view)
	return out
}

func addHostProgress(out *wire.Host, h *model.Host, view HostView) {
	out.Progress = wire.HostProgressInfo{
		CurrentStage: wire.HostStage(h.Stage), ProgressInfo: h.Progress.Info, InstallationPercentage: h.Progress.Percentage,
		StageStartedAt: wire.DateTime(h.Progress.StageStartedAt), StageUpdatedAt: wire.DateTime(h.Progress.StageUpdatedAt),
		StageTimedOut: h.Progress.StageTimedOut,
	}
	out.StageStartedAt, out.StageUpdatedAt = out.Progress.StageStartedAt, out.Progress.StageUpdatedAt
	out.ProgressStages = progressStages(h, view)
}

func progressStages(h *model.Host, view HostView) []wire.HostStage {
	stages := steps.ShownStages(h.Role, h.Bootstrap, view.SingleNode, h.DayTwo())
	out := make([]wire.HostStage, len(stages))
	for i, stage := range stages {
		out[i] = wire.HostStage(stage)
	}
	return out
}

// addHostFacts adds what the host answered, as JSON in strings (docs/reference/wire.md, "JSON in strings"). Missing answers are left
// out, but for the inventory, which is always present.
func addHostFacts(out *wire.Host, h *model.Host, view HostView) {
	if view.Inventory && h.Inventory != nil {
		out.Inventory = wire.Text(h.Inventory)
	}
	if view.Connectivity && h.Connectivity != nil {
		out.Connectivity = wire.Text(h.Connectivity.Unpack())
	}
	if h.Tang != nil {
		out.TangConnectivity = wire.Text(h.Tang)
	}
	if h.IgnitionDownload != nil {
		out.APIVipConnectivity = wire.Text(h.IgnitionDownload)
	}
	if h.DomainResolution != nil {
		out.DomainNameResolutions = wire.Text(h.DomainResolution)
	}
	if len(h.FreeAddresses) > 0 {
		out.FreeAddresses = wire.Text(h.FreeAddresses)
	}
	if len(h.NTPSources) > 0 {
		out.NtpSources = wire.Text(h.NTPSources)
	}
	if len(h.Images) > 0 {
		images := map[string]wire.ContainerImageAvailability{}
		for _, image := range h.Images {
			images[image.Name] = image
		}
		out.ImagesStatus = wire.Text(images)
	}
	if len(h.DiskSpeed) > 0 {
		disks := map[string]wire.DiskInfo{}
		for path, speed := range h.DiskSpeed {
			disks[path] = wire.DiskInfo{Path: path, DiskSpeed: wire.DiskSpeed{
				Tested: speed.Tested, ExitCode: speed.ExitCode, SpeedMs: int(speed.SyncDurationMS),
			}}
		}
		out.DisksInfo = wire.Text(disks)
	}
}

// addHostChoices adds the choices for the host.
func addHostChoices(out *wire.Host, h *model.Host) {
	out.InstallationDiskID, out.InstallationDiskPath = h.InstallationDiskID, h.InstallationDiskPath
	out.SkipFormattingDisks = strings.Join(h.SkipFormattingDisks, ",")
	var format []string
	for _, disk := range hardware.DisksToFormat(h) {
		format = append(format, hardware.DiskID(disk))
	}
	out.DisksToBeFormatted = strings.Join(format, ",")
	if len(h.NodeLabels) > 0 {
		out.NodeLabels = wire.Text(h.NodeLabels)
	}
	out.MachineConfigPoolName = h.MachineConfigPoolName
	out.IgnitionEndpointTokenSet = h.IgnitionEndpointToken != ""
}

// addHostSecrets adds the choices that are sealed in the database. Whoever reads no secrets sees the names of arguments.
func addHostSecrets(out *wire.Host, h *model.Host, view HostView) {
	if view.Secrets {
		out.IgnitionConfigOverrides, out.FencingCredentials = h.IgnitionConfigOverrides, fencing(h.Fencing)
	}
	if len(h.InstallerArgs) == 0 {
		return
	}
	arguments := slices.Clone(h.InstallerArgs)
	for n := range arguments {
		if !view.Secrets {
			arguments[n] = redact.Value(arguments[n])
		}
	}
	out.InstallerArgs = wire.Text(arguments)
}

// fencing shows how a host's power is controlled, without the password.
func fencing(f *model.FencingCredentials) string {
	if f == nil {
		return ""
	}
	shown := map[string]string{"address": f.Address, "username": f.Username, "certificate_verification": f.CertificateVerification}
	if f.MACAddress != "" {
		shown["mac_address"] = f.MACAddress
	}
	return wire.Text(shown)
}

// HostName returns the name of a host from its registration on: the name it will have, and while that is unknown its id
// (docs/reference/wire.md, "Name before the inventory").
func HostName(h *model.Host) string { return cmp.Or(h.Hostname(), h.ID.String()) }

func hostHref(h *model.Host) string {
	return wire.BasePath + "/v2/infra-envs/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String()
}
