package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

func TestSystemVendorIsWhatClientsExpect(t *testing.T) {
	t.Parallel()
	const (
		dmi    = "/sys/class/dmi/id/"
		detect = "systemd-detect-virt"
	)
	mainframe := tree{"/proc/cpuinfo": "vendor_id       : IBM/S390\n# processors    : 2\n"}
	for name, c := range map[string]struct {
		files    tree
		commands map[string]hostexectest.Answer
		want     wire.SystemVendor
	}{
		"a machine of oVirt, which reports it as the family": {
			tree{dmi + "sys_vendor": "Red Hat\n", dmi + "product_name": "RHEL\n", dmi + "product_family": "oVirt\n"},
			map[string]hostexectest.Answer{detect: hostexectest.Prints("kvm\n")},
			wire.SystemVendor{Manufacturer: "Red Hat", ProductName: "oVirt", Virtual: true},
		},
		"a machine of Oracle's cloud, which reports it as a tag": {
			tree{dmi + "sys_vendor": "QEMU\n", dmi + "product_name": "Standard PC\n", dmi + "chassis_asset_tag": "OracleCloud.com\n"},
			map[string]hostexectest.Answer{detect: hostexectest.Prints("kvm\n")},
			wire.SystemVendor{Manufacturer: "OracleCloud.com", ProductName: "Standard PC", Virtual: true},
		},
		"a partition of a mainframe": {
			mainframe,
			map[string]hostexectest.Answer{detect: hostexectest.Fails(1, "none")},
			wire.SystemVendor{Manufacturer: "IBM/S390", ProductName: "LPAR"},
		},
		"a virtual machine of a mainframe": {
			merge(mainframe, tree{"/proc/sysinfo": "VM00 Name:            guest\nVM00 Control Program: KVM/Linux       \n"}), nil,
			wire.SystemVendor{Manufacturer: "IBM/S390", ProductName: "KVM/Linux", Virtual: true},
		},
		"a virtual machine without the program that reports it": {
			tree{"/proc/cpuinfo": "processor\t: 0\nflags\t: fpu hypervisor\n", dmi + "sys_vendor": "QEMU\n"},
			nil,
			wire.SystemVendor{Manufacturer: "QEMU", Virtual: true},
		},
		"hardware without the program that reports it": {
			tree{"/proc/cpuinfo": "processor\t: 0\nflags\t: fpu vmx\n", dmi + "sys_vendor": "Dell Inc.\n"},
			nil,
			wire.SystemVendor{Manufacturer: "Dell Inc."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, inventory.Collect(t.Context(), machine(t, c.files, network{}, c.commands)).SystemVendor)
		})
	}
}
