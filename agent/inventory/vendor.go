package inventory

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// oracleCloud is the chassis tag of machines of Oracle's cloud, whose makers name others.
const oracleCloud = "OracleCloud.com"

// oVirtFamilies are the families that virtual machines of oVirt report in place of the product's name.
var oVirtFamilies = []string{"oVirt", "RHV"}

// What stands for the maker and the product of a mainframe, which has no DMI.
const (
	mainframeMaker = "IBM/S390"
	partition      = "LPAR" // without a hypervisor that is a program
	linuxKVM       = "KVM/Linux"
)

func readSystemVendor(ctx context.Context, m Machine, into *wire.Inventory) error {
	const dmi = "/sys/class/dmi/id/"
	vendor := wire.SystemVendor{
		Manufacturer: m.text(dmi + "sys_vendor"),
		ProductName:  m.text(dmi + "product_name"),
		SerialNumber: m.text(dmi + "product_serial"),
	}
	if slices.Contains(oVirtFamilies, m.text(dmi+"product_family")) {
		vendor.ProductName = "oVirt"
	}
	if m.text(dmi+"chassis_asset_tag") == oracleCloud {
		vendor.Manufacturer = oracleCloud
	}
	if _, facts := parseCPUInfo(m.text("/proc/cpuinfo")); vendor.Manufacturer == "" && facts["vendor_id"] == mainframeMaker {
		vendor.Manufacturer, vendor.ProductName = mainframeMaker, hypervisor(m.text("/proc/sysinfo"))
	}
	vendor.Virtual = vendor.ProductName == linuxKVM || m.virtual(ctx, into.CPU.Flags)
	into.SystemVendor = vendor
	return nil
}

// virtual asks systemd, which knows all hypervisors; without it, the processor.
func (m Machine) virtual(ctx context.Context, flags []string) bool {
	result, err := m.Runner.Run(ctx, hostexec.Cmd{Name: "systemd-detect-virt", Args: []string{"--vm"}})
	if hostexec.Missing(err) {
		return slices.Contains(flags, "hypervisor")
	}
	return err == nil && strings.TrimSpace(result.Stdout) != "none"
}

// hypervisor reads from /proc/sysinfo what a mainframe's machine runs on: a line "VM00 Control
// Program: z/VM 7.3.0" where there is one, else a partition of the hardware.
func hypervisor(sysinfo string) string {
	for line := range strings.Lines(sysinfo) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.HasPrefix(key, "VM") && strings.HasSuffix(key, "Control Program") {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return partition
}

// readHostname names a host that calls itself localhost after its first interface with
// an address, so that hosts without names can be distinguished.
func readHostname(_ context.Context, m Machine, into *wire.Inventory) error {
	into.Hostname = m.text("/proc/sys/kernel/hostname")
	if into.Hostname != "" && !strings.HasPrefix(into.Hostname, "localhost") {
		return nil
	}
	usable := func(nic wire.Interface) bool { return len(nic.Ipv4Addresses)+len(nic.Ipv6Addresses) > 0 }
	if n := slices.IndexFunc(into.Interfaces, usable); n >= 0 {
		into.Hostname = strings.ReplaceAll(into.Interfaces[n].MacAddress, ":", "-")
	}
	return nil
}
