package inventory

import (
	"context"
	"strings"

	"slipway/internal/wire"
)

const pciDevices = "/sys/bus/pci/devices"

// gpuClasses are the PCI classes of VGA, 3D and display controllers and of accelerators.
var gpuClasses = map[string]bool{"0300": true, "0302": true, "0380": true, "1200": true}

func readGPUs(_ context.Context, m Machine, into *wire.Inventory) error {
	for _, address := range m.list(pciDevices) {
		place := pciDevices + "/" + address
		class := strings.TrimPrefix(m.text(place+"/class"), "0x")
		if len(class) < 4 || !gpuClasses[class[:4]] {
			continue
		}
		into.Gpus = append(into.Gpus, wire.Gpu{
			Address:  address,
			VendorID: strings.TrimPrefix(m.text(place+"/vendor"), "0x"),
			DeviceID: strings.TrimPrefix(m.text(place+"/device"), "0x"),
		})
	}
	if len(into.Gpus) > 0 {
		m.nameGPUs(into.Gpus)
	}
	return nil
}
