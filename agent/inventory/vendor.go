package inventory

import (
	"context"
	"strings"

	"slipway/internal/run"
	"slipway/internal/wire"
)

// oracleCloud is the chassis tag of machines of Oracle's cloud, whose makers name others.
const oracleCloud = "OracleCloud.com"

func readSystemVendor(ctx context.Context, m Machine, into *wire.Inventory) {
	vendor := wire.SystemVendor{
		Manufacturer: m.text("/sys/class/dmi/id/sys_vendor"),
		ProductName:  m.text("/sys/class/dmi/id/product_name"),
		SerialNumber: m.text("/sys/class/dmi/id/product_serial"),
	}
	if m.text("/sys/class/dmi/id/chassis_asset_tag") == oracleCloud {
		vendor.Manufacturer = oracleCloud
	}
	if vendor.Manufacturer == "" {
		vendor.Manufacturer, vendor.ProductName = m.mainframe()
	}
	_, err := m.Runner.Run(ctx, run.Cmd{Name: "systemd-detect-virt", Args: []string{"--vm"}})
	vendor.Virtual = err == nil
	into.SystemVendor = vendor
}

// mainframe reads the maker and the type of a s390x machine, which has no DMI.
func (m Machine) mainframe() (manufacturer, product string) {
	for line := range strings.Lines(m.text("/proc/sysinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "Manufacturer":
			manufacturer = strings.TrimSpace(value)
		case "Type":
			product = strings.TrimSpace(value)
		}
	}
	return manufacturer, product
}
