package operators

import (
	"slices"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

var cnvAlso = []string{
	"1 GiB of memory more for every supported GPU",
	"1 GiB of memory more for every supported SR-IOV NIC",
	"A CPU with the flag vmx or svm",
}

var cnv = Operator{
	Name: "cnv", Title: "OpenShift Virtualization",
	Description: "Runs virtual machines beside containers.",
	Feature: features.Row{
		ID: features.CNV,
		Limits: []features.Limit{
			features.NotOn(model.S390X, model.PPC64LE),
			{Architectures: []string{model.ARM64}, Before: "4.14", Level: features.LevelUnavailable, Reason: features.ReasonArchitecture},
			features.NotFor(features.Nutanix, features.VSphere),
			{Architectures: []string{model.ARM64}, From: "4.14", Level: features.LevelDevPreview},
		},
		Excludes: features.Never(features.Nutanix, features.VSphere),
	},
	Subscription: Subscription{
		Namespace: "openshift-cnv", Name: "hco-operatorhub", Package: "kubevirt-hyperconverged",
		Channel: "stable", Group: "kubevirt-hyperconverged-group", OwnNamespace: true,
	},
	Timeout: longTimeout,
	Needs: Needs{
		Master: Need{CPUCores: 4, RAMMiB: 150, Also: cnvAlso},
		Worker: Need{CPUCores: 2, RAMMiB: 360, Also: cnvAlso},
		Single: &Need{CPUCores: 6, RAMMiB: 510, Also: cnvAlso},
	},
	adjust: func(p *Plan, h *model.Host, role model.Role, n Need) Need {
		// Virtual machines, which devices are given to, run where the work of users does.
		if h != nil && p.takesWork(role) {
			n.RAMMiB += int64(passthroughDevices(h)) * gib / mib
		}
		return n
	},
	brings: func(p *Plan) []string {
		if p.hostPathStorage() {
			return []string{"lso"} // offers the disk that the folder is on
		}
		return nil
	},
	ownNeed: true,
	host:    cnvHost,
}

// singleNodeDisk is the size that the disk for volumes must exceed on single nodes of OpenShift 4.10 and 4.11.
const singleNodeDisk = 50 * gib

func cnvHost(p *Plan, h *model.Host) Result {
	cpu := h.Inventory.CPU
	arm := cpu.Architecture == "aarch64" || cpu.Architecture == "arm64"
	if !arm && !slices.Contains(cpu.Flags, "vmx") && !slices.Contains(cpu.Flags, "svm") {
		return failure(
			"OpenShift Virtualization: require a CPU with the flag vmx or svm, found neither; enable virtualization in the firmware",
		)
	}
	if p.hostPathStorage() {
		if count, largest := hardware.DataDisks(h, singleNodeDisk+1); count == 0 {
			return failure(
				"OpenShift Virtualization: require a disk of more than %d GiB besides the installation disk, largest found has %d GiB",
				singleNodeDisk/gib, largest/gib,
			)
		}
	}
	return success("The host meets what OpenShift Virtualization requires")
}

// hostPathStorage reports whether virtual machines keep their volumes in a folder of the node: on single nodes of
// OpenShift 4.10 and 4.11. Later ones use the storage that the user chooses.
func (p *Plan) hostPathStorage() bool {
	return p.version != nil && p.singleNode() && !p.before("4.10") && p.before("4.12")
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
		if slices.Contains(passthroughGPUs, hardware.PCIID(g.VendorID)+":"+hardware.PCIID(g.DeviceID)) {
			n++
		}
	}
	for _, nic := range h.Inventory.Interfaces {
		if slices.Contains(sriovNICs, hardware.PCIID(nic.Vendor)+":"+hardware.PCIID(nic.Product)) {
			n++
		}
	}
	return n
}
