package inventory

import (
	"bufio"
	"io"
	"os"
	"strings"

	"slipway/internal/wire"
)

// pciDatabases are where systems keep the list of PCI vendors and devices.
var pciDatabases = []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids", "/usr/share/pci.ids"}

// nameGPUs adds what the PCI database of the host calls them, where it has one. The file
// is read in one pass and not kept: it is larger than the rest of the agent's memory.
func (m Machine) nameGPUs(gpus []wire.Gpu) {
	for _, path := range pciDatabases {
		file, err := os.Open(m.Root.Path(path))
		if err != nil {
			continue
		}
		namePCI(file, gpus)
		_ = file.Close()
		return
	}
}

// namePCI reads pci.ids: "10de  NVIDIA Corporation", below it "<tab>1eb8  TU104GL" for a
// device and two tabs for a variant of it; classes, which come last, begin with "C ".
func namePCI(database io.Reader, gpus []wire.Gpu) {
	vendor := ""
	for lines := bufio.NewScanner(database); lines.Scan(); {
		line := lines.Text()
		id, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		switch {
		case strings.HasPrefix(line, "C "):
			return
		case !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "\t\t"):
			continue
		case !strings.HasPrefix(line, "\t"):
			vendor = id
		}
		for n := range gpus {
			switch {
			case gpus[n].VendorID != vendor:
			case id == vendor && !strings.HasPrefix(line, "\t"):
				gpus[n].Vendor = name
			case id == gpus[n].DeviceID && strings.HasPrefix(line, "\t"):
				gpus[n].Name = name
			}
		}
	}
}
