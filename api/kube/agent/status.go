package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// Status returns the status of an Agent whose host the service has. base is the root of the service; problem is why the spec is not
// applied, nil: it is.
func Status(in Inputs, base string, problem error, now metav1.Time) (agentinstall.AgentStatus, error) {
	status, h := in.Resource.Status.DeepCopy(), in.Host
	inventory, err := inventoryOf(h)
	if err != nil {
		return *status, err
	}
	if h.Inventory != "" {
		status.Inventory = hardware(&inventory)
	}
	if err := readJSON(h.ValidationsInfo, &status.ValidationsInfo, "validations", h); err != nil {
		return *status, err
	}
	var sources []wire.NtpSource
	if err := readJSON(h.NtpSources, &sources, "time sources", h); err != nil {
		return *status, err
	}
	status.NtpSources = nil
	for _, s := range sources {
		status.NtpSources = append(status.NtpSources, agentinstall.HostNTPSource{SourceName: s.SourceName, SourceState: string(s.SourceState)})
	}
	status.Bootstrap, status.Kind, status.InstallationDiskID = h.Bootstrap, string(h.Kind), h.InstallationDiskID
	status.Role = string(h.Role)
	if h.Role == wire.HostRoleAutoAssign && h.SuggestedRole != "" {
		status.Role = string(h.SuggestedRole)
	}
	status.Progress = progress(h)
	status.DebugInfo = debugInfo(h, base)
	forgetNode(status, in)
	for _, c := range append(conditions(in.Resource, h, status.ValidationsInfo), specSynced(problem)) {
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		resource.SetCondition(&status.Conditions, c)
	}
	return *status, nil
}

func readJSON(text string, into any, what string, h *wire.Host) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("read the %s of host %s: %w", what, h.ID, err)
	}
	return nil
}

func progress(h *wire.Host) agentinstall.HostProgress {
	if h.Progress.CurrentStage == "" {
		return agentinstall.HostProgress{}
	}
	p := agentinstall.HostProgress{
		CurrentStage: string(h.Progress.CurrentStage), ProgressInfo: h.Progress.ProgressInfo,
		InstallationPercentage: int64(h.Progress.InstallationPercentage),
		StageStartTime:         new(resource.Now(h.Progress.StageStartedAt.Time())),
		StageUpdateTime:        new(resource.Now(h.Progress.StageUpdatedAt.Time())),
	}
	for _, stage := range h.ProgressStages {
		p.ProgressStages = append(p.ProgressStages, string(stage))
	}
	return p
}

// debugInfo has the addresses of events, logs and workflow: a request to them needs a token of the service.
func debugInfo(h *wire.Host, base string) agentinstall.DebugInfo {
	info := agentinstall.DebugInfo{State: string(h.Status), StateInfo: h.StatusInfo}
	info.EventsURL = base + client.BasePath + "/v2/events?" +
		url.Values{"infra_env_id": {h.InfraEnvID.String()}, "host_id": {h.ID.String()}}.Encode()
	if h.ClusterID != uuid.Nil && h.LogsCollectedAt.Time().Year() > 1 {
		info.LogsURL = base + client.BasePath + "/v2/clusters/" + h.ClusterID.String() + "/logs?" +
			url.Values{"logs_type": {"host"}, "host_id": {h.ID.String()}}.Encode()
	}
	if h.ClusterID != uuid.Nil && h.Progress.CurrentStage != "" {
		info.WorkflowURL = base + resource.UIPath + "/infra-envs/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String()
	}
	return info
}

// Unavailable returns the status of an Agent whose host the service does not have. What is known of an installed host is kept.
func Unavailable(a *agentinstall.Agent, now metav1.Time) agentinstall.AgentStatus {
	status := a.Status.DeepCopy()
	if status.Has(agentinstall.Installed, corev1.ConditionTrue) {
		return *status // a node of a cluster does not come back to the service
	}
	status.DebugInfo.State, status.DebugInfo.StateInfo = "", ""
	for _, kind := range []agentinstall.ConditionType{
		agentinstall.Installed, agentinstall.Connected, agentinstall.RequirementsMet, agentinstall.Validated, agentinstall.BoundCondition,
	} {
		resource.SetCondition(&status.Conditions, resource.Condition(
			kind, corev1.ConditionUnknown, agentinstall.ReasonNotAvailable, "Information not available", now))
	}
	return *status
}

// labelPrefix begins the labels that say what hardware a host has.
const labelPrefix = "inventory.agent-install.openshift.io/"

// Labels returns the labels of a host's hardware and cluster, as selectors of other programs have them. Characters that a label cannot have
// are left out, and so are values that no label can have even then.
func Labels(in Inputs) (map[string]string, error) {
	inventory, err := inventoryOf(in.Host)
	if err != nil || in.Host.Inventory == "" {
		return nil, err
	}
	solid := slices.ContainsFunc(inventory.Disks, func(d wire.Disk) bool { return d.DriveType == wire.DriveTypeSSD })
	virtualizes := slices.Contains(inventory.CPU.Flags, "vmx") || slices.Contains(inventory.CPU.Flags, "svm")
	labels := map[string]string{
		labelPrefix + "storage-hasnonrotationaldisk": fmt.Sprint(solid),
		labelPrefix + "cpu-architecture":             inventory.CPU.Architecture,
		labelPrefix + "cpu-virtenabled":              fmt.Sprint(virtualizes),
		labelPrefix + "host-manufacturer":            inventory.SystemVendor.Manufacturer,
		labelPrefix + "host-productname":             inventory.SystemVendor.ProductName,
		labelPrefix + "host-isvirtual":               fmt.Sprint(inventory.SystemVendor.Virtual),
		agentinstall.ClusterNamespaceLabel:           "",
	}
	if ref := in.Resource.Spec.ClusterDeploymentName; ref != nil {
		labels[agentinstall.ClusterNamespaceLabel] = ref.Namespace
	}
	for key, value := range labels {
		value, fits := labelValue(value)
		if labels[key] = value; !fits {
			delete(labels, key)
		}
	}
	return labels, nil
}

// annotationLimit is how long all annotations of an object may be (k8s.io/apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB), less
// a quarter for the annotations of other programs.
const annotationLimit = 192 << 10

// Annotations returns the state of the host for programs that read no status. The longest are left out where all are too long.
func Annotations(h *wire.Host) map[string]string {
	all := map[string]string{
		annotation("state"): string(h.Status), annotation("role"): string(h.Role), annotation("inventory"): h.Inventory,
		annotation("validations-info"): h.ValidationsInfo, annotation("current-stage"): string(h.Progress.CurrentStage),
		labelPrefix + "version": "0.1",
	}
	size := 0
	for key, value := range all {
		size += len(key) + len(value)
	}
	for _, key := range []string{annotation("inventory"), annotation("validations-info")} {
		if size > annotationLimit {
			size -= len(all[key])
			delete(all, key)
		}
	}
	return all
}

func annotation(name string) string { return "agent.agent-install.openshift.io/" + name }

// labelValue returns a text as the value of a label; false: it cannot be one.
func labelValue(text string) (string, bool) {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, text)
	return text, len(text) <= 63 && text == strings.Trim(text, "-_.")
}

// hardware returns an inventory as resources have it.
func hardware(from *wire.Inventory) agentinstall.HostInventory {
	to := agentinstall.HostInventory{
		Hostname: from.Hostname, BmcAddress: from.BmcAddress, BmcV6address: from.BmcV6Address,
		Memory: agentinstall.HostMemory{PhysicalBytes: int64(from.Memory.PhysicalBytes), UsableBytes: int64(from.Memory.UsableBytes)},
		Cpu: agentinstall.HostCPU{
			Count: int64(from.CPU.Count), ClockMegahertz: int64(from.CPU.Frequency), Flags: from.CPU.Flags, ModelName: from.CPU.ModelName,
			Architecture: from.CPU.Architecture,
		},
		Boot: agentinstall.HostBoot{
			CurrentBootMode: from.Boot.CurrentBootMode, PxeInterface: from.Boot.PxeInterface, DeviceType: string(from.Boot.DeviceType),
		},
		SystemVendor: agentinstall.HostSystemVendor{
			SerialNumber: from.SystemVendor.SerialNumber, ProductName: from.SystemVendor.ProductName,
			Manufacturer: from.SystemVendor.Manufacturer, Virtual: from.SystemVendor.Virtual,
		},
	}
	for n := range from.Interfaces {
		i := &from.Interfaces[n]
		to.Interfaces = append(to.Interfaces, agentinstall.HostInterface{
			Name: i.Name, MacAddress: i.MacAddress, IPV4Addresses: required(i.Ipv4Addresses), IPV6Addresses: required(i.Ipv6Addresses),
			Flags: required(i.Flags), HasCarrier: i.HasCarrier, SpeedMbps: int64(i.SpeedMbps), Mtu: int64(i.Mtu), Vendor: i.Vendor,
			Product: i.Product, ClientID: i.ClientID, BiosDevName: i.Biosdevname,
		})
	}
	for n := range from.Disks {
		d := &from.Disks[n]
		to.Disks = append(to.Disks, agentinstall.HostDisk{
			ID: d.ID, Name: d.Name, Path: d.Path, ByPath: d.ByPath, ByID: d.ByID, DriveType: string(d.DriveType), Vendor: d.Vendor,
			Model: d.Model, Serial: d.Serial, Wwn: d.Wwn, Hctl: d.Hctl, SizeBytes: int64(d.SizeBytes), Bootable: d.Bootable, Smart: d.Smart,
			InstallationEligibility: agentinstall.HostInstallationEligibility{
				Eligible: d.InstallationEligibility.Eligible, NotEligibleReasons: required(d.InstallationEligibility.NotEligibleReasons),
			},
			IoPerf: agentinstall.HostIOPerf{SyncDurationMilliseconds: int64(d.IoPerf.SyncDuration)},
		})
	}
	for _, g := range from.Gpus {
		to.GPUs = append(to.GPUs, agentinstall.HostGPU{
			Address: g.Address, VendorID: g.VendorID, DeviceID: g.DeviceID, Vendor: g.Vendor, Name: g.Name,
		})
	}
	return to
}

// required returns a list that the schema wants to be there.
func required(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
