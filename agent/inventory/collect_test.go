package inventory_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

var server = tree{
	"/proc/cpuinfo": "processor\t: 0\nmodel name\t: Xeon\ncpu MHz\t: 1200.0\nflags\t: fpu vmx\n\n" +
		"processor\t: 1\nmodel name\t: Xeon\ncpu MHz\t: 3000.0\nflags\t: fpu vmx\n",
	"/proc/sys/kernel/arch":                                 "x86_64\n",
	"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3500000\n",
	"/proc/meminfo":                                         "MemTotal:       16000000 kB\nMemFree: 1 kB\n",
	"/proc/cmdline":                                         "coreos.live.rootfs_url=http://x BOOTIF=01-52-54-00-aa-bb-01\n",
	"/proc/sys/kernel/hostname":                             "localhost.localdomain\n",
	"/proc/mounts": "/dev/loop1 /sysroot squashfs ro 0 0\n/dev/sr0 /run/media/iso iso9660 ro 0 " +
		"0\n/dev/sda10 /mnt/a\\040b xfs rw 0 0\n",
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": "\x06\x00\x00\x00\x01",
	"/sys/class/tpm/tpm0/tpm_version_major":                                     "2\n",
	"/sys/class/dmi/id/sys_vendor":                                              "Dell Inc.\n",
	"/sys/class/dmi/id/product_name":                                            "R640\n",
	"/sys/class/dmi/id/product_serial":                                          "ABC123\n",
	"/sys/class/net/eno1/device/vendor":                                         "0x8086\n",
	"/sys/class/net/eno1/device/device":                                         "0x1572\n",
	"/sys/class/net/eno1/speed":                                                 "10000\n",
	"/sys/class/net/eno2/device/vendor":                                         "0x8086\n",
	"/sys/class/net/eno2/speed":                                                 "-1\n",
	"/sys/bus/pci/devices/0000:3b:00.0/class":                                   "0x030200\n",
	"/sys/bus/pci/devices/0000:3b:00.0/vendor":                                  "0x10de\n",
	"/sys/bus/pci/devices/0000:3b:00.0/device":                                  "0x1eb8\n",
	"/sys/bus/pci/devices/0000:00:1f.0/class":                                   "0x060100\n",
	"/dev/ipmi0": "",
	"/sys/devices/pci0/host0/target0:0:0/0:0:0:0/vendor":                  "SEAGATE \n",
	"/sys/devices/pci0/host0/target0:0:0/0:0:0:0/vpd_pg83":                "id",
	"/sys/devices/pci0/host0/target0:0:0/0:0:0:0/scsi_device/0:0:0:0/dev": "",
	"/sys/block/sda/device":           "-> ../../devices/pci0/host0/target0:0:0/0:0:0:0",
	"/sys/block/sda/size":             "468862128\n",
	"/sys/block/sda/dev":              "8:0\n",
	"/sys/block/sda/queue/rotational": "0\n",
	"/sys/block/sda/removable":        "0\n",
	"/sys/block/sda/sda1/size":        "2048\n",
	"/sys/block/sda/sda1/dev":         "8:1\n",
	"/sys/block/sda/holders/dm-0":     "",
	"/run/udev/data/b8:0": "E:ID_MODEL=SSD_Model\nE:ID_SERIAL_SHORT=S1\n" +
		"E:ID_WWN_WITH_EXTENSION=0x5000c500a1b2c3d4\n",
	"/dev/sda":                                                       strings.Repeat("\x00", 510) + "\x55\xAA",
	"/dev/disk/by-id/ata-SSD_Model_S1":                               "-> ../../sda",
	"/dev/disk/by-id/wwn-0x5000c500a1b2c3d4":                         "-> ../../sda",
	"/dev/disk/by-id/wwn-0x5000c500a1b2c3d4-part1":                   "-> ../../sda1",
	"/dev/disk/by-path/pci-0000:00:17.0-ata-1":                       "-> ../../sda",
	"/sys/block/nvme0n1/size":                                        "1000\n",
	"/sys/block/nvme0n1/queue/rotational":                            "0\n",
	"/sys/block/nvme0n1/wwid":                                        "eui.0001\n",
	"/sys/block/nvme0n1/device/model":                                "Fast NVMe \n",
	"/sys/block/nvme0n1/device/serial":                               "N1\n",
	"/sys/block/nvme1n1/size":                                        "1000\n",
	"/sys/block/nvme1n1/hidden":                                      "1\n",
	"/sys/devices/platform/host2/session1/target2:0:0/2:0:0:0/model": "iscsi\n",
	"/sys/block/sdb/device":                                          "-> ../../devices/platform/host2/session1/target2:0:0/2:0:0:0",
	"/sys/block/sdb/size":                                            "1000\n",
	"/sys/class/iscsi_host/host2/ipaddress":                          "192.0.2.50\n",
	"/sys/devices/pci0/host3/rport-3:0-0/target3:0:0/3:0:0:0/model":  "fc\n",
	"/sys/block/sdc/device":                                          "-> ../../devices/pci0/host3/rport-3:0-0/target3:0:0/3:0:0:0",
	"/sys/block/sdc/size":                                            "1000\n",
	"/sys/block/dm-0/dm/name":                                        "mpatha\n",
	"/sys/block/dm-0/dm/uuid":                                        "mpath-3600\n",
	"/sys/block/dm-0/size":                                           "1000\n",
	"/sys/block/dm-1/dm/name":                                        "vg-lv\n",
	"/sys/block/dm-1/dm/uuid":                                        "LVM-abc\n",
	"/sys/block/dm-1/size":                                           "1000\n",
	"/sys/block/dm-2/dm/name":                                        "crypt\n",
	"/sys/block/dm-2/dm/uuid":                                        "CRYPT-LUKS2\n",
	"/sys/block/md127/size":                                          "1000\n",
	"/sys/block/sr0/size":                                            "2000000\n",
	"/sys/block/sr0/removable":                                       "1\n",
	"/sys/block/loop0/size":                                          "1000\n",
	"/sys/block/zram0/size":                                          "1000\n",
	"/sys/firmware/dmi/tables/DMI":                                   smbios(16384, 0, 1024),
	"/sys/block/sda10/size":                                          "1\n",
}

var serverLinks = network{
	links: []inventory.Link{
		loopback(),
		link("eno1", "52:54:00:aa:bb:01", "device", "192.168.10.11/24", "fe80::1/64", "2001:db8::11/64"),
		link("eno2", "52:54:00:aa:bb:02", "device", "169.254.3.4/16"),
		link("bond0", "52:54:00:aa:bb:03", "bond"),
	},
	routes: []inventory.Route{
		{Interface: "eno1", Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.168.10.1"), Metric: 100},
		{Interface: "eno1", Destination: netip.MustParsePrefix("2001:db8::/64")},
	},
}

var serverCommands = map[string]hostexectest.Answer{
	"systemd-detect-virt": hostexectest.Fails(1, "none"),
}

func TestCollectReadsAServer(t *testing.T) {
	t.Parallel()
	found := inventory.Collect(t.Context(), machine(t, server, serverLinks, serverCommands))

	require.Equal(
		t,
		wire.CPU{Architecture: "x86_64", Count: 2, ModelName: "Xeon", Flags: []string{"fpu", "vmx"}, Frequency: 3500},
		found.CPU,
	)
	require.Equal(t, wire.Memory{PhysicalBytes: 17 << 30, UsableBytes: 16000000 << 10, PhysicalBytesMethod: wire.Dmidecode}, found.Memory)
	require.Equal(t, wire.SystemVendor{Manufacturer: "Dell Inc.", ProductName: "R640", SerialNumber: "ABC123"}, found.SystemVendor)
	require.Equal(t, "uefi", found.Boot.CurrentBootMode)
	require.Equal(t, "01-52-54-00-aa-bb-01", found.Boot.PxeInterface)
	require.Equal(t, wire.SecureBootStateEnabled, found.Boot.SecureBootState)
	require.Equal(t, wire.Ephemeral, found.Boot.DeviceType)
	require.Equal(t, wire.InventoryTpmVersionN20, found.TpmVersion)
	require.Equal(t, []wire.Gpu{{Address: "0000:3b:00.0", VendorID: "10de", DeviceID: "1eb8"}}, found.Gpus)
	require.Equal(t, "0.0.0.0", found.BmcAddress)
	require.Equal(t, "::/0", found.BmcV6Address)
	require.Equal(t, "52-54-00-aa-bb-01", found.Hostname, "localhost is no name")
}

func TestCollectReadsTheNetwork(t *testing.T) {
	t.Parallel()
	found := inventory.Collect(t.Context(), machine(t, server, serverLinks, serverCommands))
	require.Len(t, found.Interfaces, 3)
	require.Equal(t, wire.Interface{
		Name: "eno1", MacAddress: "52:54:00:aa:bb:01", Mtu: 1500, Type: "physical", HasCarrier: true, SpeedMbps: 10000,
		Vendor: "0x8086", Product: "0x1572", Flags: []string{"up", "broadcast"},
		Ipv4Addresses: []string{"192.168.10.11/24"}, Ipv6Addresses: []string{"2001:db8::11/64"},
	}, found.Interfaces[0])
	require.Empty(t, found.Interfaces[1].Ipv4Addresses)
	require.Zero(t, found.Interfaces[1].SpeedMbps)
	require.Equal(t, "bond", found.Interfaces[2].Type)
	require.Equal(t, []wire.Route{
		{Interface: "eno1", Destination: "0.0.0.0", Gateway: "192.168.10.1", Family: 2, Metric: 100},
		{Interface: "eno1", Destination: "2001:db8::", Family: 10},
	}, found.Routes)
}

func TestCollectReadsTheDisks(t *testing.T) {
	t.Parallel()
	found := inventory.Collect(t.Context(), machine(t, server, serverLinks, serverCommands))
	disks := map[string]wire.Disk{}
	for _, disk := range found.Disks {
		disks[disk.Name] = disk
	}
	for _, name := range []string{"nvme1n1", "dm-2", "loop0", "zram0"} {
		require.NotContains(t, disks, name)
	}
	require.Equal(t, "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", disks["sda"].ID)
	require.Equal(t, wire.Disk{
		Name: "sda", Path: "/dev/sda", ID: "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", ByID: "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4",
		ByPath: "/dev/disk/by-path/pci-0000:00:17.0-ata-1", DriveType: wire.DriveTypeSSD, SizeBytes: 468862128 * 512,
		Vendor: "SEAGATE", Model: "SSD_Model", Serial: "S1", Wwn: "0x5000c500a1b2c3d4", Bootable: true, HasUUID: true,
		Hctl: "0:0:0:0", Holders: "dm-0", InstallationEligibility: disks["sda"].InstallationEligibility,
	}, disks["sda"])
	require.True(t, disks["sda"].InstallationEligibility.Eligible, "sda10 is another disk: %v", disks["sda"].InstallationEligibility)
	require.Equal(t, wire.DriveTypeSSD, disks["nvme0n1"].DriveType)
	require.Equal(t, "Fast NVMe", disks["nvme0n1"].Model)
	require.Equal(t, "N1", disks["nvme0n1"].Serial)
	require.True(t, disks["nvme0n1"].HasUUID)
	require.Equal(t, wire.DriveTypeISCSI, disks["sdb"].DriveType)
	require.Equal(t, "192.0.2.50", disks["sdb"].Iscsi.HostIPAddress)
	require.Equal(t, wire.DriveTypeFC, disks["sdc"].DriveType)
	require.Equal(t, wire.DriveTypeMultipath, disks["dm-0"].DriveType)
	require.Equal(t, "/dev/dm-0", disks["dm-0"].Path)
	require.Equal(t, wire.DriveTypeLVM, disks["dm-1"].DriveType)
	require.Equal(t, []string{"Disk is an LVM logical volume"}, disks["dm-1"].InstallationEligibility.NotEligibleReasons)
	require.Equal(t, wire.DriveTypeRAID, disks["md127"].DriveType)
	require.True(t, disks["sr0"].IsInstallationMedia)
	require.Equal(t, []string{
		"Disk appears to be an ISO installation media (has partition with type iso9660)",
		"Disk appears to be an ISO installation media (has partition with mountpoint suffix iso)",
	}, disks["sr0"].InstallationEligibility.NotEligibleReasons)
}

func TestDiskInABayWithHotPlugIsEligible(t *testing.T) {
	t.Parallel()
	files := merge(server, tree{"/sys/block/sda/removable": "1\n"})
	for _, disk := range inventory.Collect(t.Context(), machine(t, files, serverLinks, serverCommands)).Disks {
		if disk.Name == "sda" {
			require.True(t, disk.Removable)
			require.True(t, disk.InstallationEligibility.Eligible, disk.InstallationEligibility.NotEligibleReasons)
			return
		}
	}
	require.Fail(t, "sda is missing")
}

func TestDisksThatCannotBeWrittenAreNotEligible(t *testing.T) {
	t.Parallel()
	const (
		sda, sdc             = "/sys/devices/pci0/host0/target0:0:0/0:0:0:0", "/sys/devices/pci0/host3/rport-3:0-0/target3:0:0/3:0:0:0"
		notRunning, readOnly = "Require a disk that is running, found ", "Require a disk that can be written, found it read-only"
	)
	for name, c := range map[string]struct{ disk, path, content, want string }{
		"a disk that was taken offline":        {"sda", sda + "/state", "offline", notRunning + "offline"},
		"a path of FC that is blocked":         {"sdc", sdc + "/state", "blocked", notRunning + "blocked"},
		"a path whose port is gone":            {"sdc", sdc + "/state", "transport-offline", notRunning + "transport-offline"},
		"a controller of NVMe that is dead":    {"nvme0n1", "/sys/block/nvme0n1/device/state", "dead", notRunning + "dead"},
		"a controller of NVMe that reconnects": {"nvme0n1", "/sys/block/nvme0n1/device/state", "connecting", notRunning + "connecting"},
		"a disk with a write lock":             {"sda", "/sys/block/sda/ro", "1", readOnly},
		"a LUN that is the copy of another":    {"dm-0", "/sys/block/dm-0/ro", "1", readOnly},
		"a disk that runs":                     {"sda", sda + "/state", "running", ""},
		"a controller of NVMe that is live":    {"nvme0n1", "/sys/block/nvme0n1/device/state", "live", ""},
		"a disk that can be written":           {"sda", "/sys/block/sda/ro", "0", ""},
		"an array that nothing was written to": {"md127", "/sys/block/md127/ro", "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := merge(server, tree{c.path: c.content + "\n"})
			for _, disk := range inventory.Collect(t.Context(), machine(t, files, serverLinks, serverCommands)).Disks {
				if disk.Name == c.disk {
					require.Equal(t, c.want, strings.Join(disk.InstallationEligibility.NotEligibleReasons, "; "))
					return
				}
			}
			require.Fail(t, "the disk is missing")
		})
	}
}

// silentNetwork cannot be asked.
type silentNetwork struct{}

func (silentNetwork) Links() ([]inventory.Link, error)   { return nil, errors.New("no netlink") }
func (silentNetwork) Routes() ([]inventory.Route, error) { return nil, errors.New("no netlink") }

func TestCollectNeverFails(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]tree{
		"an empty root": {},
		"odd contents": {
			"/proc/cpuinfo": "::::\nprocessor", "/proc/meminfo": "MemTotal: x kB\nMemTotal:", "/proc/mounts": "\n\n x\n",
			"/proc/1/mounts": "\n/\n\n", "/proc/self/mounts": "\n", "/sys/block/sda/size": "many", "/sys/block/dm-0/dm": "no folder",
			"/sys/block/sda/sda1/size": "?", "/sys/firmware/efi": "no folder",
			"/sys/devices/system/memory/block_size_bytes": "zz", "/sys/bus/pci/devices/x/class": "0x", "/proc/cmdline": "BOOTIF",
			"/sys/bus/pci/devices/0000:00:02.0/class": "0x030000", "/dev/disk/by-id/x": "file", "/proc/sysinfo": "Type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unreadable := map[string]string{}
			m := inventory.Machine{Root: files.plant(t), Runner: hostexectest.New(nil), Links: silentNetwork{}}
			m.Unreadable = func(part string, reason error) { unreadable[part] = reason.Error() }
			require.NotNil(t, inventory.Collect(t.Context(), m))
			require.Subset(t, unreadable, map[string]string{"interfaces": "no netlink", "routes": "no netlink"})
			_, err := inventory.HostID(m)
			require.ErrorIs(t, err, inventory.ErrNoIdentity)
		})
	}
}

// brokenBMC stumbles as a library may over odd hardware.
type brokenBMC struct{}

func (brokenBMC) Addresses(context.Context) (v4, v6 netip.Addr, err error) {
	panic("index out of range")
}

func TestCollectTellsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	unreadable := map[string]string{}
	m := machine(t, server, serverLinks, serverCommands)
	m.Unreadable = func(part string, reason error) { unreadable[part] = reason.Error() }
	whole := inventory.Collect(t.Context(), m)
	require.Empty(t, unreadable)

	require.NoError(t, os.RemoveAll(m.Root.Path("/sys/block")))
	m.BMC, m.Links = brokenBMC{}, silentNetwork{}
	rest := inventory.Collect(t.Context(), m)
	require.Equal(t, "panic: index out of range", unreadable["bmc"])
	require.Contains(t, unreadable["disks"], "/sys/block")
	require.Len(t, unreadable, 4, "interfaces and routes as well")
	require.Equal(t, whole.CPU, rest.CPU)
}
