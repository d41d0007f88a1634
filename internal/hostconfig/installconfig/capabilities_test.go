package installconfig_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
)

// The refusals of openshift-install 4.19 are recorded (edge-no-baremetal-capability, edge-unknown-capability); the other rules are from
// openshift/installer, pkg/types/validation/installconfig.go.
func TestCapabilitiesThatTheInstallerRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		version, platform, capabilities, says string
	}{
		"none at all": {
			"4.20.1", "baremetal", `{"baselineCapabilitySet":"None"}`,
			"baremetal is missing: the platform baremetal requires it",
		},
		"baremetal without the API":   {"4.20.1", "baremetal", none("baremetal"), "MachineAPI is missing"},
		"the case of a report":        {"4.20.1", "baremetal", none("baremetal", "Ingress"), "MachineAPI is missing"},
		"no ingress":                  {"4.20.1", "baremetal", none("baremetal", "MachineAPI"), "Ingress is missing"},
		"what baremetal needs":        {"4.20.1", "baremetal", none("baremetal", "MachineAPI", "Ingress"), ""},
		"no ingress on none":          {"4.20.1", "none", `{"baselineCapabilitySet":"None"}`, "Ingress is missing"},
		"ingress alone on none":       {"4.20.1", "none", none("Ingress"), ""},
		"marketplace alone":           {"4.20.1", "none", none("Ingress", "marketplace"), "OperatorLifecycleManager is missing"},
		"marketplace before OLM was":  {"4.14.9", "none", none("marketplace"), ""},
		"baremetal before the API":    {"4.13.9", "baremetal", none("baremetal"), ""},
		"ingress before it was one":   {"4.15.9", "baremetal", none("baremetal", "MachineAPI"), ""},
		"ingress before it was asked": {"4.16.9", "baremetal", none("baremetal", "MachineAPI"), ""},
		"a release candidate":         {"4.17.0-rc.1", "baremetal", none("baremetal", "MachineAPI"), "Ingress is missing"},
		"vSphere without credentials": {"4.20.1", "vsphere", none("Ingress", "CloudControllerManager"), "CloudCredential is missing"},
		"vSphere without its manager": {"4.20.1", "vsphere", none("Ingress", "CloudCredential"), "CloudControllerManager is missing"},
		"vSphere before both":         {"4.15.9", "vsphere", none("Console"), ""},
		"an unknown name": {
			"4.19.3", "baremetal", `{"additionalEnabledCapabilities":["Nothing"]}`,
			`"Nothing" is none of the capabilities`,
		},
		"a name of a later version":   {"4.30.1", "baremetal", `{"additionalEnabledCapabilities":["Nothing"]}`, ""},
		"everything":                  {"4.20.1", "baremetal", `{"baselineCapabilitySet":"vCurrent"}`, ""},
		"everything of a version":     {"4.20.1", "baremetal", `{"baselineCapabilitySet":"v4.14"}`, ""},
		"an unknown set":              {"4.20.1", "baremetal", `{"baselineCapabilitySet":"All"}`, `found "All"`},
		"parts beside the usual ones": {"4.20.1", "baremetal", `{"additionalEnabledCapabilities":["Console"]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster(func(*model.Cluster) {})
			c.OpenShiftVersion, c.Platform.Type = tt.version, tt.platform
			c.InstallConfigOverride = `{"capabilities":` + tt.capabilities + `}`
			if tt.platform == "none" {
				c.UserManagedNetworking, c.APIVIPs, c.IngressVIPs = true, nil, nil
			}
			_, err := installconfig.Build(c, hosts(model.RoleMaster, 3, 10), installconfig.Options{})
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// none lists the only capabilities of a cluster.
func none(names ...string) string {
	list := `"` + names[0] + `"`
	for _, name := range names[1:] {
		list += `,"` + name + `"`
	}
	return `{"baselineCapabilitySet":"None","additionalEnabledCapabilities":[` + list + `]}`
}
