package openshift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slipway/internal/model"
)

// Use is a feature that a cluster uses, as the field feature_usage reports it.
type Use struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Data map[string]any `json:"data,omitempty"`
}

// usage is a row of the table of uses: details returns nil for an unused feature. Names are the names in reports on fleets; ids are the
// ids of the support levels, where a feature has one.
type usage struct {
	id, name string
	details  func(c *model.Cluster) map[string]any
}

// when returns a use without further details, nil if it is not used.
func when(used bool) map[string]any {
	if used {
		return map[string]any{}
	}
	return nil
}

func counted(what string, n int) map[string]any {
	if n == 0 {
		return nil
	}
	return map[string]any{what: n}
}

func onNetwork(name string) func(*model.Cluster) map[string]any {
	return func(c *model.Cluster) map[string]any { return when(c.NetworkType == name) }
}

func onArchitecture(name string) func(*model.Cluster) map[string]any {
	return func(c *model.Cluster) map[string]any { return when(architectureOf(c.CPUArchitecture) == name) }
}

var usages = []usage{
	{"HYPERTHREADING", "Hyperthreading", func(c *model.Cluster) map[string]any {
		if c.Hyperthreading == "" || c.Hyperthreading == "none" {
			return nil
		}
		return map[string]any{"hyperthreading_enabled": c.Hyperthreading}
	}},
	{"SNO", "SNO", func(c *model.Cluster) map[string]any { return when(c.SingleNode()) }},
	{"NON_STANDARD_HA_CONTROL_PLANE", "Non-standard HA control plane", func(c *model.Cluster) map[string]any {
		if c.ControlPlaneCount <= 3 {
			return nil
		}
		return map[string]any{"control_plane_count": c.ControlPlaneCount}
	}},
	{"SINGLE_NODE_EXPANSION", "Single Node Expansion", func(c *model.Cluster) map[string]any {
		return when(c.SingleNode() && c.Uses.DayTwoHosts > 0)
	}},
	{"DAY2_HOSTS", "Day2 hosts", func(c *model.Cluster) map[string]any { return counted("day2_host_count", c.Uses.DayTwoHosts) }},
	{"OVN_NETWORK_TYPE", "OVN network type", onNetwork("OVNKubernetes")},
	{"SDN_NETWORK_TYPE", "SDN network type", onNetwork("OpenShiftSDN")},
	{"CILIUM_NETWORK_TYPE", "Cilium network type", onNetwork("Cilium")},
	{"CALICO_NETWORK_TYPE", "Calico network type", onNetwork("Calico")},
	{"CISCO_ACI_NETWORK_TYPE", "Cisco ACI network type", onNetwork("CiscoACI")},
	{"NONE_NETWORK_TYPE", "None network type", onNetwork("None")},
	{"DUAL_STACK", "Dual-stack", func(c *model.Cluster) map[string]any { return when(dualStack(c)) }},
	{"DUAL_STACK_VIPS", "Dual-stack VIPs", func(c *model.Cluster) map[string]any { return when(len(c.APIVIPs) > 1) }},
	{"DUAL_STACK_PRIMARY_IPV6", "Dual-stack primary IPv6", func(c *model.Cluster) map[string]any {
		return when(dualStack(c) && primaryFamily(c).Is6())
	}},
	{"VIP_AUTO_ALLOC", "VIP auto alloc.", func(c *model.Cluster) map[string]any { return when(c.VIPDHCPAllocation) }},
	{"USER_MANAGED_LOAD_BALANCER", "User-managed load balancer", func(c *model.Cluster) map[string]any {
		return when(c.LoadBalancer == "user-managed")
	}},
	{"USER_MANAGED_NETWORKING_WITH_MULTI_NODE", "User Managed Networking With Multi Node", func(c *model.Cluster) map[string]any {
		return when(c.UserManagedNetworking && !c.SingleNode() && !c.DayTwo())
	}},
	{"CLUSTER_MANAGED_NETWORKING_WITH_VMS", "Cluster managed networking with VMs", func(c *model.Cluster) map[string]any {
		if c.UserManagedNetworking || c.DayTwo() {
			return nil
		}
		if len(c.Uses.VMHosts) == 0 {
			return nil
		}
		return map[string]any{"VM Hosts": c.Uses.VMHosts}
	}},
	{"PLATFORM_SELECTION", "Platform selection", func(c *model.Cluster) map[string]any {
		if t := c.Platform.Type; t == "" || t == "baremetal" || t == none {
			return nil
		}
		return map[string]any{"platform_type": c.Platform.Type}
	}},
	{"NUTANIX_INTEGRATION", "Nutanix integration", func(c *model.Cluster) map[string]any { return when(c.Platform.Type == nutanix) }},
	{"ARM64_ARCHITECTURE", "arm64 architecture", onArchitecture(arm64)},
	{"PPC64LE_ARCHITECTURE", "ppc64le architecture", onArchitecture(ppc64le)},
	{"S390X_ARCHITECTURE", "s390x architecture", onArchitecture(s390x)},
	{"MULTIARCH_RELEASE_IMAGE", "Multi-architecture release image", onArchitecture(multi)},
	{
		"ADDITIONAL_NTP_SOURCE",
		"Additional NTP Source",
		func(c *model.Cluster) map[string]any { return counted("source_count", len(c.NTPSources)) },
	},
	{"PROXY", "Proxy", proxyUse},
	{"DISK_ENCRYPTION", "Disk encryption", func(c *model.Cluster) map[string]any {
		if d := c.DiskEncryption; d.EnableOn == "" || d.EnableOn == "none" {
			return nil
		}
		return map[string]any{
			"enable_on": c.DiskEncryption.EnableOn, "mode": c.DiskEncryption.Mode, "tang_servers": c.DiskEncryption.TangServers,
		}
	}},
	{"SCHEDULABLE_MASTERS", "Schedulable masters", func(c *model.Cluster) map[string]any { return when(c.SchedulableMasters) }},
	{
		"AUTO_ASSIGN_ROLE",
		"auto assign role",
		func(c *model.Cluster) map[string]any { return when(c.Uses.AutoAssignedRoles > 0) },
	},
	{
		"REQUESTED_HOSTNAME",
		"Requested hostname",
		func(c *model.Cluster) map[string]any { return counted("host_count", c.Uses.RequestedHostnames) },
	},
	{"CLUSTER_TAGS", "Cluster Tags", func(c *model.Cluster) map[string]any { return when(c.Tags != "") }},
	{
		"INSTALL_CONFIG_OVERRIDES",
		"Install Config Overrides",
		func(c *model.Cluster) map[string]any { return overridesUse(c.InstallConfigOverride) },
	},
	{
		"IGNITION_CONFIG_OVERRIDE",
		"Ignition Config Override",
		func(c *model.Cluster) map[string]any { return when(c.Uses.IgnitionOverrides > 0) },
	},
	{"STATIC_NETWORK_CONFIG", "Static Network Config", func(c *model.Cluster) map[string]any { return when(c.Uses.StaticNetworks > 0) }},
	{
		"DISCOVERY_KERNEL_ARGUMENTS",
		"discovery kernel arguments",
		func(c *model.Cluster) map[string]any { return when(c.Uses.KernelArguments > 0) },
	},
	{"CUSTOM_MANIFEST", "Custom manifest", func(c *model.Cluster) map[string]any { return when(c.Uses.CustomManifests > 0) }},
	{"VALIDATIONS_IGNORED", "Validations have been ignored for this cluster", func(c *model.Cluster) map[string]any {
		return when(len(c.IgnoredHostValidations)+len(c.IgnoredClusterValidations) > 0)
	}},
}

// proxyUse shows only which settings exist: an address may contain a password.
func proxyUse(c *model.Cluster) map[string]any {
	var used map[string]any
	for name, value := range map[string]string{"http_proxy": c.Proxy.HTTP, "https_proxy": c.Proxy.HTTPS, "no_proxy": c.Proxy.NoProxy} {
		if value != "" {
			if used == nil {
				used = map[string]any{}
			}
			used[name] = 1
		}
	}
	return used
}

// overridesUse names the fields that an override sets: "controlPlane hyperthreading" where a field is an object with fields of its own;
// assisted-service joins them in one name.
func overridesUse(override string) map[string]any {
	var fields map[string]any
	if json.Unmarshal([]byte(override), &fields) != nil || len(fields) == 0 {
		return nil // no override, or an override of an older release that the installer will refuse
	}
	used := map[string]any{}
	for name, value := range fields {
		inner, _ := value.(map[string]any)
		used[strings.Join(append([]string{name}, slices.Sorted(maps.Keys(inner))...), " ")] = true
	}
	return used
}

// Usage lists the features a cluster uses by name: features of its definition, and features counted over its hosts at the last
// evaluation (see CountUses).
func Usage(c *model.Cluster) map[string]Use {
	out := map[string]Use{}
	for _, u := range usages {
		if details := u.details(c); details != nil {
			out[u.name] = Use{ID: u.id, Name: u.name, Data: details}
		}
	}
	for _, o := range c.OLMOperators {
		name := strings.ToUpper(o.Name)
		id := string(OperatorFeature(o.Name))
		if id == "" {
			id = name
		}
		out[name] = Use{ID: id, Name: name}
	}
	return out
}

// UsageText encodes Usage in JSON for the field feature_usage.
func UsageText(c *model.Cluster) string {
	text, err := json.Marshal(Usage(c))
	if err != nil {
		panic(fmt.Sprintf("encode the features of cluster %s: %v", c.ID, err)) // numbers and texts only
	}
	return string(text)
}

// CountUses adds the features used by a cluster's hosts to the uses of its files and InfraEnvs.
func CountUses(uses model.Uses, hosts []*model.Host) model.Uses {
	for _, h := range hosts {
		if h.Inventory != nil {
			uses.RequestedHostnames += one(h.RequestedHostname != "" && h.RequestedHostname != h.Inventory.Hostname)
			if h.Inventory.SystemVendor.Virtual {
				uses.VMHosts = append(uses.VMHosts, h.ID)
			}
		}
		uses.AutoAssignedRoles += one(h.Role == model.RoleAutoAssign || h.AutoRole)
		uses.DayTwoHosts += one(h.DayTwo())
		uses.IgnitionOverrides += one(h.IgnitionConfigOverrides != "")
	}
	return uses
}

func one(used bool) int {
	if used {
		return 1
	}
	return 0
}
