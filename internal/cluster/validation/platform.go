package validation

import (
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Platform types of a cluster.
const (
	platformVSphere  = "vsphere"
	platformNutanix  = "nutanix"
	platformExternal = "external"
	externalOCI      = "oci"
)

// machineRule matches the machines that a platform runs on.
type machineRule struct {
	maker   string
	matches func(p model.Platform, v wire.SystemVendor) bool
}

// platformMachines lists the platforms that do not run on every machine.
var platformMachines = map[string]machineRule{
	platformVSphere: {"VMware", func(_ model.Platform, v wire.SystemVendor) bool { return isVMware(v) }},
	platformNutanix: {"Nutanix", func(_ model.Platform, v wire.SystemVendor) bool { return v.Manufacturer == "Nutanix" }},
	// Only Oracle's cloud is recognised by its machines; the agent reports the asset tag as the manufacturer. Oracle's servers outside of
	// it have no metadata service.
	platformExternal: {OracleCloud, func(p model.Platform, v wire.SystemVendor) bool {
		return p.ExternalName != externalOCI || v.Manufacturer == OracleCloud
	}},
}

// OracleCloud is the manufacturer of machines in Oracle's cloud.
const OracleCloud = "OracleCloud.com"

func isVMware(v wire.SystemVendor) bool { return strings.Contains(v.Manufacturer, "VMware") }

func platformName(p model.Platform) string {
	if p.ExternalName != "" {
		return p.Type + " " + p.ExternalName
	}
	return p.Type
}

const openStackProduct = "OpenStack Compute"

func platformNetwork(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	if c.inv.SystemVendor.ProductName != openStackProduct {
		return success("The platform lets virtual addresses through")
	}
	if c.Cluster == nil {
		return irrelevant() // whether networking will be the user's is not known yet
	}
	if c.Cluster.UserManagedNetworking {
		return success("Networking is the user's")
	}
	return failure("Require user-managed networking on OpenStack machines, found managed networking")
}

func vsphereDiskUUID(c *hostCase) verdict {
	switch {
	case c.inv == nil && c.Cluster.Platform.Type == platformVSphere:
		return pending(missingInventory)
	case c.inv == nil || !isVMware(c.inv.SystemVendor):
		return irrelevant()
	}
	for i := range c.inv.Disks {
		d := &c.inv.Disks[i]
		if d.InstallationEligibility.Eligible && !d.HasUUID {
			return failure("Require disks with a UUID on VMware machines, %s has none; set disk.EnableUUID to TRUE", d.Name)
		}
	}
	return success("All disks have a UUID")
}
