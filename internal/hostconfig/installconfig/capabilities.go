package installconfig

import (
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// baselines matches the sets of optional parts that a cluster begins with.
var baselines = regexp.MustCompile(`^(None|vCurrent|v4\.[0-9]+)?$`)

// capability is an optional part of a cluster.
type capability struct {
	name string
	// since is the OpenShift version that made it optional: before, each cluster has it, and the installer does not know its name.
	since string
}

// capabilities are the optional parts up to OpenShift 4.19 (github.com/openshift/api, config/v1/types_cluster_version.go; the list of names
// as openshift-install 4.19 prints it).
var capabilities = []capability{
	{"baremetal", "4.11"},
	{"marketplace", "4.11"},
	{"openshift-samples", "4.11"},
	{"Console", "4.12"},
	{"Insights", "4.12"},
	{"Storage", "4.12"},
	{"CSISnapshot", "4.12"},
	{"NodeTuning", "4.13"},
	{"MachineAPI", "4.14"},
	{"Build", "4.14"},
	{"DeploymentConfig", "4.14"},
	{"ImageRegistry", "4.14"},
	{"OperatorLifecycleManager", "4.15"},
	{"CloudCredential", "4.15"},
	{"CloudControllerManager", "4.16"},
	{"Ingress", "4.16"},
	{"OperatorLifecycleManagerV1", "4.18"},
}

// lastListed is the version whose capabilities are all listed: later ones may have more.
const lastListed = "4.19"

// checkCapabilities returns an error where the installer would refuse the optional parts of the cluster (openshift/installer,
// pkg/types/validation/installconfig.go).
func (c *InstallConfig) checkCapabilities(cluster *model.Cluster) error {
	if c.Capabilities == nil {
		return nil
	}
	if set := c.Capabilities.BaselineCapabilitySet; !baselines.MatchString(set) {
		return misfit("capabilities.baselineCapabilitySet", "require None, vCurrent or a version such as v4.19, found %q", set)
	}
	version, err := semver.NewVersion(cluster.OpenShiftVersion)
	if err != nil {
		return nil //nolint:nilerr // the version is checked elsewhere
	}
	has := func(name string) bool {
		i := slices.IndexFunc(capabilities, func(k capability) bool { return k.name == name })
		return !atLeast(version, capabilities[i].since) || c.Capabilities.BaselineCapabilitySet != "None" ||
			slices.Contains(c.Capabilities.AdditionalEnabledCapabilities, name)
	}
	for _, name := range c.Capabilities.AdditionalEnabledCapabilities {
		known := slices.ContainsFunc(capabilities, func(k capability) bool { return k.name == name })
		if !known && !atLeast(version, "4.20") {
			names := make([]string, len(capabilities))
			for i, k := range capabilities {
				names[i] = k.name
			}
			return misfit("capabilities.additionalEnabledCapabilities", "%q is none of the capabilities up to %s: %s",
				name, lastListed, strings.Join(names, ", "))
		}
	}
	inCloud := c.Platform.BareMetal == nil && c.Platform.None == nil && atLeast(version, "4.16")
	for _, rule := range []struct {
		needs, why string
		applies    bool
	}{
		{needs: "baremetal", why: "the platform baremetal requires it", applies: c.Platform.BareMetal != nil},
		{needs: "MachineAPI", why: "the capability baremetal requires it", applies: has("baremetal")},
		{needs: "OperatorLifecycleManager", why: "the capability marketplace requires it", applies: has("marketplace")},
		{
			needs: "OperatorLifecycleManager", why: "the operators of the cluster require it",
			applies: len(cluster.OLMOperators) > 0,
		},
		{needs: "CloudCredential", why: "platforms other than baremetal and none require it", applies: inCloud},
		{
			needs: "CloudControllerManager", why: "the platform requires it",
			applies: inCloud && (c.Platform.External == nil || c.Platform.External.CloudControllerManager == "External"),
		},
		{needs: "Ingress", why: "each cluster requires it", applies: atLeast(version, "4.17")},
	} {
		if rule.applies && !has(rule.needs) {
			return misfit("capabilities.additionalEnabledCapabilities", "%s is missing: %s", rule.needs, rule.why)
		}
	}
	return nil
}
