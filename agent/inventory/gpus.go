package inventory

import (
	"context"
	"strings"

	"github.com/jaypipes/ghw"

	"slipway/internal/wire"
)

const pciDevices = "/sys/bus/pci/devices"

// gpuClasses are the PCI classes of VGA, 3D and display controllers and of accelerators.
var gpuClasses = map[string]bool{"0300": true, "0302": true, "0380": true, "1200": true}

func readGPUs(_ context.Context, m Machine, into *wire.Inventory) {
	var gpus []wire.Gpu
	for _, address := range m.list(pciDevices) {
		place := pciDevices + "/" + address
		class := strings.TrimPrefix(m.text(place+"/class"), "0x")
		if len(class) < 4 || !gpuClasses[class[:4]] {
			continue
		}
		gpus = append(gpus, wire.Gpu{
			Address:  address,
			VendorID: strings.TrimPrefix(m.text(place+"/vendor"), "0x"),
			DeviceID: strings.TrimPrefix(m.text(place+"/device"), "0x"),
		})
	}
	into.Gpus = gpus
	if len(gpus) > 0 {
		m.nameGPUs(gpus)
	}
}

// nameGPUs adds what the PCI database of the host calls them, where it has one.
func (m Machine) nameGPUs(gpus []wire.Gpu) {
	info, err := ghw.PCI(ghw.WithChroot(string(m.Root)), ghw.WithDisableWarnings(), ghw.WithDisableTopology())
	if err != nil {
		return
	}
	for n, gpu := range gpus {
		device := info.GetDevice(gpu.Address)
		if device == nil {
			continue
		}
		if device.Product != nil {
			gpus[n].Name = device.Product.Name
		}
		if device.Vendor != nil {
			gpus[n].Vendor = device.Vendor.Name
		}
	}
}
