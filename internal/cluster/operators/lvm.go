package operators

import (
	"fmt"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

const lvmTitle = "Logical volume manager storage"

var lvm = Operator{
	Name: "lvm", Title: lvmTitle,
	Description: "Offers volumes on the disks of the node that uses them.",
	Feature: features.Row{
		ID: features.LVM,
		Limits: []features.Limit{
			features.NotOn(model.S390X, model.PPC64LE), features.Since("4.11"),
			features.NotFor(features.VSphere, features.Nutanix), features.Only(features.LevelDevPreview, "4.11", "4.12"),
		},
		Excludes: []features.Exclusion{
			{Features: []features.ID{features.Nutanix, features.VSphere, features.ODF}},
			{Before: "4.15", Features: []features.ID{features.VIPAutoAlloc, features.ClusterManagedNetworking}},
		},
	},
	Subscription: Subscription{
		Namespace: "openshift-storage", Name: "lvms-operator",
		Group: "openshift-storage-operatorgroup", OwnNamespace: true, ClusterMonitoring: true,
		named: func(p *Plan) string {
			if p.before("4.12") {
				return "odf-lvm-operator"
			}
			return "lvms-operator"
		},
	},
	Timeout: usualTimeout,
	Needs:   Needs{Master: Need{CPUCores: 1}, Worker: Need{CPUCores: 1}},
	adjust:  lvmNeed,
	host:    lvmHost,
	cluster: func(p *Plan) Result {
		if !p.singleNode() && p.before("4.15") {
			return failure(lvmTitle+": require OpenShift 4.15 or newer with more than one node, found %s", p.cluster.OpenShiftVersion)
		}
		return success("The cluster meets what " + lvmTitle + " requires")
	},
}

// lvmNeed adds to hosts that run work; the program became smaller with its versions.
func lvmNeed(p *Plan, h *model.Host, role model.Role, n Need) Need {
	if h != nil && !p.takesWork(role) || role == model.RoleArbiter {
		return Need{}
	}
	n.RAMMiB = 100
	switch {
	case p.before("4.13"):
		n.RAMMiB = 1200
	case p.before("4.16"):
		n.RAMMiB = 400
	}
	n.Also = []string{
		"At least 1 disk besides the installation disk",
		fmt.Sprintf("%d MiB of memory more", n.RAMMiB),
		"1 CPU core more",
	}
	return n
}

func lvmHost(p *Plan, h *model.Host) Result {
	if !p.takesWork(h.EffectiveRole()) {
		return success(lvmTitle + " does not run on this host: it takes no work of users")
	}
	count, largest := hardware.DataDisks(h, 1)
	least := p.volumesOfMCE()
	switch {
	case count == 0:
		return failure(lvmTitle + ": require at least one disk besides the installation disk, found none")
	case largest < least:
		return failure(
			lvmTitle+": require a disk of at least %d GB besides the installation disk, largest found has %d GB", least/gb, largest/gb)
	}
	return success("The host meets what " + lvmTitle + " requires")
}
