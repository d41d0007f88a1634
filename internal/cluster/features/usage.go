package features

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

// usage is a row of the table of uses: details returns nil for an unused feature. Names are the names in reports on fleets.
type usage struct {
	name    string
	details func(c *model.Cluster) map[string]any
}

// usageID returns the id that reports on fleets have for a name (internal/usage of assisted-service): DUAL-STACK_VIPS for Dual-stack VIPs.
func usageID(name string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", ".", "").Replace(name))
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
	return func(c *model.Cluster) map[string]any { return when(model.Architecture(c.CPUArchitecture) == name) }
}

var usages = []usage{
	{"Hyperthreading", func(c *model.Cluster) map[string]any {
		if c.Hyperthreading == "" || c.Hyperthreading == "none" {
			return nil
		}
		return map[string]any{"hyperthreading_enabled": c.Hyperthreading}
	}},
	{"SNO", func(c *model.Cluster) map[string]any { return when(c.SingleNode()) }},
	{"Non-standard HA control plane", func(c *model.Cluster) map[string]any {
		if c.ControlPlaneCount <= 3 {
			return nil
		}
		return map[string]any{"control_plane_count": c.ControlPlaneCount}
	}},
	{"Single Node Expansion", func(c *model.Cluster) map[string]any {
		return when(c.SingleNode() && c.Uses.DayTwoHosts > 0)
	}},
	{"Day2 hosts", func(c *model.Cluster) map[string]any { return counted("day2_host_count", c.Uses.DayTwoHosts) }},
	{"OVN network type", onNetwork("OVNKubernetes")},
	{"SDN network type", onNetwork("OpenShiftSDN")},
	{"Cilium network type", onNetwork("Cilium")},
	{"Calico network type", onNetwork("Calico")},
	{"Cisco ACI network type", onNetwork("CiscoACI")},
	{"None network type", onNetwork("None")},
	{"Dual-stack", func(c *model.Cluster) map[string]any { return when(dualStack(c)) }},
	{"Dual-stack VIPs", func(c *model.Cluster) map[string]any { return when(len(c.APIVIPs) > 1) }},
	{"Dual-stack primary IPv6", func(c *model.Cluster) map[string]any {
		return when(dualStack(c) && primaryFamily(c).Is6())
	}},
	{"VIP auto alloc.", func(c *model.Cluster) map[string]any { return when(c.VIPDHCPAllocation) }},
	{"User-managed load balancer", func(c *model.Cluster) map[string]any {
		return when(c.LoadBalancer == "user-managed")
	}},
	{"User Managed Networking With Multi Node", func(c *model.Cluster) map[string]any {
		return when(c.UserManagedNetworking && !c.SingleNode() && !c.DayTwo())
	}},
	{"Cluster managed networking with VMs", func(c *model.Cluster) map[string]any {
		if c.UserManagedNetworking || c.DayTwo() {
			return nil
		}
		if len(c.Uses.VMHosts) == 0 {
			return nil
		}
		return map[string]any{"VM Hosts": c.Uses.VMHosts}
	}},
	{"Platform selection", func(c *model.Cluster) map[string]any {
		if t := c.Platform.Type; t == "" || t == "baremetal" || t == none {
			return nil
		}
		return map[string]any{"platform_type": c.Platform.Type}
	}},
	{"Nutanix integration", func(c *model.Cluster) map[string]any { return when(c.Platform.Type == nutanix) }},
	{"arm64 architecture", onArchitecture(model.ARM64)},
	{"ppc64le architecture", onArchitecture(model.PPC64LE)},
	{"s390x architecture", onArchitecture(model.S390X)},
	{"Multi-architecture release image", onArchitecture(model.Multi)},
	{
		"Additional NTP Source",
		func(c *model.Cluster) map[string]any { return counted("source_count", len(c.NTPSources)) },
	},
	{"Proxy", proxyUse},
	{"Disk encryption", func(c *model.Cluster) map[string]any {
		if d := c.DiskEncryption; d.EnableOn == "" || d.EnableOn == "none" {
			return nil
		}
		return map[string]any{
			"enable_on": c.DiskEncryption.EnableOn, "mode": c.DiskEncryption.Mode, "tang_servers": c.DiskEncryption.TangServers,
		}
	}},
	{"Schedulable masters", func(c *model.Cluster) map[string]any { return when(c.SchedulableMasters) }},
	{
		"auto assign role",
		func(c *model.Cluster) map[string]any { return when(c.Uses.AutoAssignedRoles > 0) },
	},
	{
		"Requested hostname",
		func(c *model.Cluster) map[string]any { return counted("host_count", c.Uses.RequestedHostnames) },
	},
	{"Cluster Tags", func(c *model.Cluster) map[string]any { return when(c.Tags != "") }},
	{
		"Install Config Overrides",
		func(c *model.Cluster) map[string]any { return overridesUse(c.InstallConfigOverride) },
	},
	{
		"Ignition Config Override",
		func(c *model.Cluster) map[string]any { return when(c.Uses.IgnitionOverrides > 0) },
	},
	{"Static Network Config", func(c *model.Cluster) map[string]any { return when(c.Uses.StaticNetworks > 0) }},
	{
		"discovery kernel arguments",
		func(c *model.Cluster) map[string]any { return when(c.Uses.KernelArguments > 0) },
	},
	{"Custom manifest", func(c *model.Cluster) map[string]any { return when(c.Uses.CustomManifests > 0) }},
	{"Validations have been ignored for this cluster", func(c *model.Cluster) map[string]any {
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
			out[u.name] = Use{ID: usageID(u.name), Name: u.name, Data: details}
		}
	}
	for _, o := range c.OLMOperators {
		name := strings.ToUpper(o.Name)
		out[name] = Use{ID: usageID(name), Name: name}
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
