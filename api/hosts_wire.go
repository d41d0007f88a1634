package api

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/steps"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// hostView is how much of a host is shown.
type hostView struct {
	singleNode   bool // of a cluster with one control plane host
	inventory    bool
	connectivity bool
	secrets      bool // see redactHost
}

// whole shows everything of a host but secrets.
var whole = hostView{inventory: true, connectivity: true}

// hostToWire maps a host to its format in the API.
func hostToWire(h *model.Host, view hostView) wire.Host {
	out := wire.Host{
		Kind: wire.HostKind(h.Kind), ID: h.ID, InfraEnvID: h.InfraEnvID, ClusterID: deref(h.ClusterID), Href: hostHref(h),
		Status: wire.HostStatus(h.Status), StatusInfo: h.StatusInfo, StatusUpdatedAt: wire.DateTime(h.StatusUpdatedAt),
		CreatedAt: wire.DateTime(h.CreatedAt), UpdatedAt: wire.DateTime(h.UpdatedAt),
		RegisteredAt: wire.DateTime(h.RegisteredAt), CheckedInAt: wire.DateTime(h.CheckedInAt), Timestamp: int(h.Timestamp),
		Role: wire.HostRole(h.Role), SuggestedRole: wire.HostRole(or(string(h.SuggestedRole), string(h.Role))), Bootstrap: h.Bootstrap,
		RequestedHostname: hostName(h), UserName: or(h.UserName, admission.Anyone.Name),
		DiscoveryAgentVersion: h.DiscoveryAgentVersion,
		MediaStatus:           wire.HostMediaStatus(h.MediaStatus), ConnectionTimedOut: h.ConnectionTimedOut,
		ValidationsInfo: validation.Info(h.Validations),
		LogsInfo:        wire.LogsState(h.LogsInfo),
		LogsStartedAt:   wire.DateTime(h.LogsStartedAt), LogsCollectedAt: wire.DateTime(h.LogsCollectedAt),
	}
	if !h.DeletedAt.IsZero() {
		out.DeletedAt = wire.DateTime(h.DeletedAt)
	}
	addHostProgress(&out, h, view)
	addHostFacts(&out, h, view)
	addHostChoices(&out, h)
	if !view.secrets {
		redactHost(&out)
	}
	return out
}

func addHostProgress(out *wire.Host, h *model.Host, view hostView) {
	out.Progress = wire.HostProgressInfo{
		CurrentStage: wire.HostStage(h.Stage), ProgressInfo: h.Progress.Info, InstallationPercentage: h.Progress.Percentage,
		StageStartedAt: wire.DateTime(h.Progress.StageStartedAt), StageUpdatedAt: wire.DateTime(h.Progress.StageUpdatedAt),
		StageTimedOut: h.Progress.StageTimedOut,
	}
	out.StageStartedAt, out.StageUpdatedAt = out.Progress.StageStartedAt, out.Progress.StageUpdatedAt
	stages := steps.ShownStages(h.Role, h.Bootstrap, view.singleNode, h.DayTwo())
	out.ProgressStages = make([]wire.HostStage, len(stages))
	for i, stage := range stages {
		out.ProgressStages[i] = wire.HostStage(stage)
	}
}

// addHostFacts adds what the host answered, as JSON in strings (docs/reference/wire.md, "JSON in strings"). Missing answers are left
// out, but for the inventory, which is always present.
func addHostFacts(out *wire.Host, h *model.Host, view hostView) {
	if view.inventory && h.Inventory != nil {
		out.Inventory = jsonText(h.Inventory)
	}
	if view.connectivity && h.Connectivity != nil {
		out.Connectivity = jsonText(h.Connectivity.Unpack())
	}
	if h.Tang != nil {
		out.TangConnectivity = jsonText(h.Tang)
	}
	if h.IgnitionDownload != nil {
		out.APIVipConnectivity = jsonText(h.IgnitionDownload)
	}
	if h.DomainResolution != nil {
		out.DomainNameResolutions = jsonText(h.DomainResolution)
	}
	if len(h.FreeAddresses) > 0 {
		out.FreeAddresses = jsonText(h.FreeAddresses)
	}
	if len(h.NTPSources) > 0 {
		out.NtpSources = jsonText(h.NTPSources)
	}
	if len(h.Images) > 0 {
		images := map[string]wire.ContainerImageAvailability{}
		for _, image := range h.Images {
			images[image.Name] = image
		}
		out.ImagesStatus = jsonText(images)
	}
	if len(h.DiskSpeed) > 0 {
		disks := map[string]wire.DiskInfo{}
		for path, speed := range h.DiskSpeed {
			disks[path] = wire.DiskInfo{Path: path, DiskSpeed: wire.DiskSpeed{
				Tested: speed.Tested, ExitCode: speed.ExitCode, SpeedMs: int(speed.SyncDurationMS),
			}}
		}
		out.DisksInfo = jsonText(disks)
	}
}

// addHostChoices adds the choices for the host.
func addHostChoices(out *wire.Host, h *model.Host) {
	out.InstallationDiskID, out.InstallationDiskPath = h.InstallationDiskID, h.InstallationDiskPath
	out.SkipFormattingDisks = joined(h.SkipFormattingDisks)
	var format []string
	for _, disk := range hardware.DisksToFormat(h) {
		format = append(format, hardware.DiskID(disk))
	}
	out.DisksToBeFormatted = joined(format)
	if len(h.InstallerArgs) > 0 {
		out.InstallerArgs = jsonText(h.InstallerArgs)
	}
	if len(h.NodeLabels) > 0 {
		out.NodeLabels = jsonText(h.NodeLabels)
	}
	out.IgnitionConfigOverrides, out.MachineConfigPoolName = h.IgnitionConfigOverrides, h.MachineConfigPoolName
	out.IgnitionEndpointTokenSet = h.IgnitionEndpointToken != ""
	out.FencingCredentials = fencingToWire(h.Fencing)
}

// hostName returns the name of a host from its registration on: the name it will have, and while that is unknown its id
// (docs/reference/wire.md, "Name before the inventory").
func hostName(h *model.Host) string { return or(h.Hostname(), h.ID.String()) }

func hostHref(h *model.Host) string {
	return BasePath + "/v2/infra-envs/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String()
}

// nextStepRunner is the command that an agent receives at its registration. Agents take its arguments and run the steps
// themselves.
type nextStepRunner struct {
	Command      string   `json:"command"`
	Args         []string `json:"args"`
	RetrySeconds int      `json:"retry_seconds"`
}

// registration is the answer to a host that registers.
type registration struct {
	wire.Host
	NextStepRunnerCommand nextStepRunner `json:"next_step_runner_command"`
}

// runnerPause is how long an agent whose step runner failed waits before it registers again.
const runnerPause = time.Minute

func registrationToWire(h *model.Host, agentVersion string) registration {
	return registration{
		Host: hostToWire(h, whole),
		NextStepRunnerCommand: nextStepRunner{
			Args: []string{jsonText(wire.NextStepCmdRequest{
				InfraEnvID: h.InfraEnvID, HostID: h.ID, AgentVersion: or(agentVersion, h.DiscoveryAgentVersion),
			})},
			RetrySeconds: int(runnerPause / time.Second),
		},
	}
}

// labelsFromWire reads the labels of a node.
func labelsFromWire(list []wire.NodeLabelParams) map[string]string {
	labels := make(map[string]string, len(list))
	for _, l := range list {
		labels[strings.TrimSpace(l.Key)] = l.Value
	}
	return labels
}

func stageFromWire(p wire.HostProgress) (model.Stage, string) {
	return model.Stage(deref(p.CurrentStage)), redact.Text(deref(p.ProgressInfo))
}

func idOrNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}
