// Package hardware describes a simulated machine and writes what its kernel would show:
// the files below /proc, /sys, /dev, /run/udev and /etc that an agent reads through its
// root prefix, and the network interfaces it asks for.
package hardware

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/google/uuid"
)

// Spec is a simulated machine.
type Spec struct {
	// Serial of the board; agents make the host id of it.
	Serial  string    `json:"serial"`
	UUID    uuid.UUID `json:"uuid"` // of the product
	Vendor  string    `json:"vendor"`
	Product string    `json:"product"`
	// AssetTag of the chassis, by which a cloud marks its machines.
	AssetTag string `json:"asset_tag,omitempty"`
	// Hostname of the live image.
	Hostname string `json:"hostname"`
	CPUs     int    `json:"cpus"` // cores, one thread each
	CPUModel string `json:"cpu_model"`
	// Architecture of the processor as the kernel names it: aarch64. Empty: this machine's.
	Architecture string `json:"architecture,omitempty"`
	MemoryMiB    int64  `json:"memory_mib"`
	Disks        []Disk `json:"disks"`
	NICs         []NIC  `json:"nics"`
	// Gateway is the next hop of the default route, through the interface whose network it is in.
	Gateway netip.Addr `json:"gateway"`
}

// Disk is a disk of a machine.
type Disk struct {
	Name   string `json:"name"`    // sda, nvme0n1
	SizeGB int64  `json:"size_gb"` // 10^9 bytes
	Vendor string `json:"vendor"`
	Model  string `json:"model"`
	Serial string `json:"serial"`
	WWN    string `json:"wwn"` // 0x5000c500...
	// Rotational makes it an HDD.
	Rotational bool `json:"rotational"`
}

// NIC is a network interface with a cable in it.
type NIC struct {
	Name      string           `json:"name"`
	MAC       string           `json:"mac"`
	MTU       int              `json:"mtu"` // bytes
	SpeedMbps int              `json:"speed_mbps"`
	Addresses []netip.Prefix   `json:"addresses"`
	hardware  net.HardwareAddr // of MAC
}

// Shape is the size of a machine.
type Shape struct {
	CPUs      int
	MemoryMiB int64
	DiskGB    int64 // 10^9 bytes
}

// The shapes of a usual cluster: what each role requires and a little more. Machines of
// the control plane are the smaller ones, so that automatic roles come out as meant: the
// smallest sufficient hosts become masters (docs/reference/state-rules.md, "Automatic
// roles").
var (
	Master     = Shape{CPUs: 8, MemoryMiB: 16384, DiskGB: 120}
	Worker     = Shape{CPUs: 16, MemoryMiB: 32768, DiskGB: 240}
	SingleNode = Shape{CPUs: 8, MemoryMiB: 32768, DiskGB: 240}
	Large      = Shape{CPUs: 24, MemoryMiB: 65536, DiskGB: 240}
	Arbiter    = Shape{CPUs: 2, MemoryMiB: 8192, DiskGB: 60}
)

// New makes a machine of a shape: one NIC with one address, one disk to install on and
// one for data. All its serials and its MAC follow from its name and address.
func New(name string, shape Shape, address netip.Prefix, gateway netip.Addr) Spec {
	id := uuid.NewSHA1(uuid.NameSpaceDNS, []byte(name+"/"+address.String()))
	return Spec{
		Serial: fmt.Sprintf("SIM%X", id[10:]), UUID: id, Vendor: "Slipway", Product: "Simulated Machine",
		Hostname: name, CPUs: shape.CPUs, CPUModel: "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", MemoryMiB: shape.MemoryMiB,
		Disks: []Disk{
			{
				Name: "sda", SizeGB: shape.DiskGB, Vendor: "ATA", Model: "SIMDISK_SSD", Serial: fmt.Sprintf("S%X", id[:5]),
				WWN: fmt.Sprintf("0x5000c500%x", id[:4]),
			},
			{
				Name: "sdb", SizeGB: 4 * shape.DiskGB, Vendor: "ATA", Model: "SIMDISK_SSD", Serial: fmt.Sprintf("D%X", id[:5]),
				WWN: fmt.Sprintf("0x5000c501%x", id[:4]),
			},
		},
		NICs: []NIC{{
			Name: "eno1", MAC: fmt.Sprintf("52:54:00:%02x:%02x:%02x", id[13], id[14], id[15]), MTU: 1500,
			SpeedMbps: 10000, Addresses: []netip.Prefix{address},
		}},
		Gateway: gateway,
	}
}

// Check says what is wrong with a machine.
func (s *Spec) Check() error {
	if s.Serial == "" || s.CPUs < 1 || s.MemoryMiB < 1 || len(s.Disks) == 0 || len(s.NICs) == 0 {
		return fmt.Errorf("machine %q: require a serial number, CPUs, memory, a disk and a network interface", s.Hostname)
	}
	for n := range s.NICs {
		mac, err := net.ParseMAC(s.NICs[n].MAC)
		if err != nil {
			return fmt.Errorf("machine %q: interface %s: %w", s.Hostname, s.NICs[n].Name, err)
		}
		s.NICs[n].hardware = mac
	}
	return nil
}

// Disk finds a disk by the path of its device or one of its links: /dev/sda,
// /dev/disk/by-id/wwn-0x5000c500...
func (s *Spec) Disk(device string) (Disk, bool) {
	for _, d := range s.Disks {
		for _, link := range append(d.links(), "/dev/"+d.Name) {
			if link == device {
				return d, true
			}
		}
	}
	return Disk{}, false
}

// links lists the other names of the device.
func (d Disk) links() []string {
	return []string{
		"/dev/disk/by-id/wwn-" + d.WWN,
		"/dev/disk/by-id/ata-" + d.Model + "_" + d.Serial,
		"/dev/disk/by-path/" + d.busPath(),
	}
}

// busPath returns where the disk is plugged in; sda is the first port of the controller.
func (d Disk) busPath() string { return fmt.Sprintf("pci-0000:00:17.0-ata-%d", d.port()+1) }

func (d Disk) port() int { return int(d.Name[len(d.Name)-1] - 'a') }
