package validation

import (
	"slices"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// platformTypes are the platforms, in the order of the API document.
var platformTypes = []string{"baremetal", platformNutanix, platformVSphere, "none", platformExternal}

// SupportedPlatforms lists the platforms that a cluster could have: platforms that its other settings allow (see features.Table.Check)
// and that all known machines support. A vendor's platform requires a machine of that vendor.
func SupportedPlatforms(c *model.Cluster, hosts []*model.Host) []string {
	known := slices.DeleteFunc(slices.Clone(hosts), func(h *model.Host) bool { return h.Inventory == nil })
	fitting := []string{}
	for _, name := range platformTypes {
		on := *c
		on.Platform = model.Platform{Type: name}
		if name == c.Platform.Type {
			on.Platform = c.Platform
		}
		on.UserManagedNetworking = c.SingleNode() || name == "none" || name == platformExternal
		rule, limited := platformMachines[name]
		runs := func(h *model.Host) bool { return rule.matches(on.Platform, h.Inventory.SystemVendor) }
		if limited && slices.ContainsFunc(known, func(h *model.Host) bool { return !runs(h) }) {
			continue
		}
		if ofOneMaker := name == platformVSphere || name == platformNutanix; ofOneMaker && len(known) == 0 {
			continue
		}
		if operators.Features.Check(&on, operators.Features.Used(&on, hosts, nil)) == nil {
			fitting = append(fitting, name)
		}
	}
	return fitting
}
