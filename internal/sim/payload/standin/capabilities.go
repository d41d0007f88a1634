package standin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// capabilities are the optional parts of a cluster.
type capabilities struct {
	BaselineCapabilitySet         string   `json:"baselineCapabilitySet"`
	AdditionalEnabledCapabilities []string `json:"additionalEnabledCapabilities"`
}

// capabilitySets and capabilityNames as in openshift/api, config/v1, ClusterVersion.
var (
	capabilitySets = []string{
		"None", "v4.11", "v4.12", "v4.13", "v4.14", "v4.15", "v4.16", "v4.17", "v4.18", "vCurrent",
	}
	capabilityNames = []string{
		"openshift-samples", "baremetal", "marketplace", "Console", "Insights", "Storage", "CSISnapshot", "NodeTuning", "MachineAPI", "Build",
		"DeploymentConfig", "ImageRegistry", "OperatorLifecycleManager", "CloudCredential", "Ingress", "CloudControllerManager",
		"OperatorLifecycleManagerV1",
	}
)

// enabled reports whether a cluster has a capability. Every set but None counts as the whole one here: the
// smaller sets of old versions leave out nothing that an installation by this service depends on.
func (c *config) enabled(name string) bool {
	if c.Capabilities == nil || c.Capabilities.BaselineCapabilitySet != "None" {
		return true
	}
	return slices.Contains(c.Capabilities.AdditionalEnabledCapabilities, name)
}

// printed is a value of an error as the real program prints it. Errors print a value as JSON unless that fails.
type printed string

func (p printed) String() string { return string(p) }

// MarshalJSON fails.
func (p printed) MarshalJSON() ([]byte, error) { return nil, errors.New("has a text only") }

// capabilitiesFit wants what others depend on, and what the platform cannot do without.
func (r *run) capabilitiesFit(c *config) field.ErrorList {
	if c.Capabilities == nil {
		return nil
	}
	at := field.NewPath("capabilities")
	additional := at.Child("additionalEnabledCapabilities")
	var faults field.ErrorList
	if set := c.Capabilities.BaselineCapabilitySet; set != "" && !slices.Contains(capabilitySets, set) {
		faults = append(faults, field.NotSupported(at.Child("baselineCapabilitySet"), set, capabilitySets))
	}
	for i, name := range c.Capabilities.AdditionalEnabledCapabilities {
		if !slices.Contains(capabilityNames, name) {
			faults = append(faults, field.NotSupported(additional.Index(i), name, slices.Sorted(slices.Values(capabilityNames))))
		}
	}
	p := c.Platform
	metalOrNone := p.BareMetal != nil || p.None != nil
	names := "[]v1.ClusterVersionCapability(nil)"
	if list := c.Capabilities.AdditionalEnabledCapabilities; list != nil {
		names = strings.Replace(fmt.Sprintf("%#v", list), "[]string", "[]v1.ClusterVersionCapability", 1)
	}
	// The rule for ingress is another function's, which names another field.
	whole := printed(fmt.Sprintf("types.Capabilities{BaselineCapabilitySet:%q, AdditionalEnabledCapabilities:%s}",
		c.Capabilities.BaselineCapabilitySet, names))
	for _, rule := range []struct {
		applies bool
		needs   string
		why     string
	}{
		{c.enabled("marketplace"), "OperatorLifecycleManager", "the marketplace capability requires the OperatorLifecycleManager capability"},
		{p.BareMetal != nil, "baremetal", "platform baremetal requires the baremetal capability"},
		{r.minor >= 16 && !metalOrNone, "CloudCredential", "disabling CloudCredential capability available only for baremetal platforms"},
		{
			r.minor >= 16 && !metalOrNone && (p.External == nil || p.External.CloudControllerManager == "External"),
			"CloudControllerManager",
			"disabling CloudControllerManager is only supported on the baremetal, none, or external platform " +
				"with cloudControllerManager value none",
		},
		{r.minor >= 17, "Ingress", "the Ingress capability is required"},
	} {
		if rule.applies && !c.enabled(rule.needs) {
			found, value := field.NewPath("additionalEnabledCapabilities"), printed(names)
			if rule.needs == "Ingress" {
				found, value = at, whole
			}
			faults = append(faults, field.Invalid(found, value, rule.why))
		}
	}
	return faults
}
