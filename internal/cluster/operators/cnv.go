package operators

import (
	"slices"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var cnvAlso = []string{
	"1 GiB of memory more for every supported GPU",
	"1 GiB of memory more for every supported SR-IOV NIC",
	"A CPU with the flag vmx or svm",
}

var cnv = Operator{
	Name: "cnv", Title: "OpenShift Virtualization",
	Description:  "Runs virtual machines beside containers.",
	Feature:      openshift.FeatureCNV,
	Subscription: Subscription{Namespace: "openshift-cnv", Name: "hco-operatorhub", Package: "kubevirt-hyperconverged", OwnNamespace: true},
	Timeout:      longTimeout,
	Needs: Needs{
		Master: Need{CPUCores: 4, RAMMiB: 150, Also: cnvAlso},
		Worker: Need{CPUCores: 2, RAMMiB: 360, Also: cnvAlso},
		Single: &Need{CPUCores: 6, RAMMiB: 510, Also: cnvAlso},
	},
	adjust: func(_ *Plan, h *model.Host, role model.Role, n Need) Need {
		if h != nil && role != model.RoleArbiter {
			n.RAMMiB += int64(passthroughDevices(h)) * gib / mib
		}
		return n
	},
	host: cnvHost,
}

// singleNodeDisk is the disk that volumes of virtual machines are on where no other
// storage is installed.
const singleNodeDisk = 50 * gib

func cnvHost(p *Plan, h *model.Host) Result {
	cpu := h.Inventory.CPU
	if cpu.Architecture == "x86_64" && !slices.Contains(cpu.Flags, "vmx") && !slices.Contains(cpu.Flags, "svm") {
		return failure(
			"OpenShift Virtualization: require a CPU with the flag vmx or svm, found neither; enable virtualization in the firmware",
		)
	}
	if p.hostPathStorage() {
		if count, largest := dataDisks(h, singleNodeDisk); count == 0 {
			return failure(
				"OpenShift Virtualization: require a disk of %d GiB besides the installation disk, or Logical volume manager storage; "+
					"largest found has %d GiB",
				singleNodeDisk/gib,
				largest/gib,
			)
		}
	}
	return success("The host meets what OpenShift Virtualization requires")
}

// hostPathStorage reports whether virtual machines keep their volumes in a folder of the
// node: a single node without an operator for storage.
func (p *Plan) hostPathStorage() bool { return p.singleNode() && !p.chosen["lvm"] }

// VolumeDisk is the disk of a single node that volumes of virtual machines are on, for
// the template; empty: none is.
func (p *Plan) VolumeDisk() string {
	if !p.hostPathStorage() || len(p.hosts) == 0 {
		return ""
	}
	found := ""
	eachDataDisk(p.hosts[0], func(d *wire.Disk) {
		if found == "" && int64(d.SizeBytes) >= singleNodeDisk {
			found = device(d)
		}
	})
	return found
}

// Devices that virtual machines get for themselves, as vendor:device of PCI.
var (
	passthroughGPUs = []string{"10de:1db6", "10de:1eb8"}
	sriovNICs       = []string{"8086:158b", "15b3:1015", "15b3:1017", "15b3:1013", "15b3:101b"}
)

func passthroughDevices(h *model.Host) int {
	if h.Inventory == nil {
		return 0
	}
	n := 0
	for _, g := range h.Inventory.Gpus {
		if slices.Contains(passthroughGPUs, pciID(g.VendorID)+":"+pciID(g.DeviceID)) {
			n++
		}
	}
	for _, nic := range h.Inventory.Interfaces {
		if slices.Contains(sriovNICs, pciID(nic.Vendor)+":"+pciID(nic.Product)) {
			n++
		}
	}
	return n
}
