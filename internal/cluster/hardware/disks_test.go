package hardware_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// newHost makes a host with one disk and one NIC, which has the default route.
func newHost() *model.Host {
	system := wire.Disk{
		ID: "/dev/disk/by-id/wwn-0x1", ByID: "/dev/disk/by-id/wwn-0x1", ByPath: "/dev/disk/by-path/pci-1", Name: "sda", Path: "/dev/sda",
		DriveType: wire.DriveTypeSSD, SizeBytes: 256e9, Bootable: true,
	}
	system.InstallationEligibility.Eligible = true
	return &model.Host{
		Inventory: &wire.Inventory{
			Disks:      []wire.Disk{system},
			Interfaces: []wire.Interface{{Name: "eth0", MacAddress: "52:54:00:00:00:01", Ipv4Addresses: []string{"192.168.8.10/21"}}},
			Routes:     []wire.Route{{Family: 2, Interface: "eth0", Gateway: "192.168.8.1", Destination: "0.0.0.0"}},
		},
		InstallationDiskID: system.ID, InstallationDiskPath: "/dev/sda",
	}
}

func disk(name string, drive wire.DriveType, change ...func(*wire.Disk)) wire.Disk {
	d := wire.Disk{Name: name, Path: "/dev/" + name, DriveType: drive, SizeBytes: 200e9}
	d.InstallationEligibility.Eligible = true
	for _, c := range change {
		c(&d)
	}
	return d
}

func holders(names string) func(*wire.Disk) { return func(d *wire.Disk) { d.Holders = names } }
func wwn(name string) func(*wire.Disk)      { return func(d *wire.Disk) { d.Wwn = name } }
func byID(link string) func(*wire.Disk)     { return func(d *wire.Disk) { d.ByID = link } }
func size(n int) func(*wire.Disk)           { return func(d *wire.Disk) { d.SizeBytes = n } }
func from(addr string) func(*wire.Disk)     { return func(d *wire.Disk) { d.Iscsi.HostIPAddress = addr } }

func TestDiskEligibility(t *testing.T) {
	t.Parallel()
	spec := hardware.DiskSpec{MinSizeGB: 100, OpenShiftVersion: "4.22.0", CPUArchitecture: "x86_64"}
	older := func(version string) hardware.DiskSpec {
		s := spec
		s.OpenShiftVersion = version
		return s
	}
	on := func(arch string) hardware.DiskSpec {
		s := spec
		s.CPUArchitecture = arch
		return s
	}
	for _, tt := range []struct {
		name  string
		disks []wire.Disk // the first is judged
		spec  hardware.DiskSpec
		says  []string // empty: eligible
	}{
		{"takes an SSD", []wire.Disk{disk("sda", "SSD")}, spec, nil},
		{"takes a disk of just the size", []wire.Disk{disk("sda", "HDD", size(100e9))}, spec, nil},
		{
			"refuses a smaller one",
			[]wire.Disk{disk("sda", "HDD", size(100e9-1))},
			spec,
			[]string{"Require a disk of at least 100 GB, found 100.0 GB"},
		},
		{"refuses an optical drive", []wire.Disk{disk("sr0", "ODD")}, spec, []string{"drive type"}},
		{"takes RAID from 4.14 on", []wire.Disk{disk("md126", "RAID")}, older("4.14.0-ec.2"), nil},
		{"refuses RAID before", []wire.Disk{disk("md126", "RAID")}, older("4.13.53"), []string{"drive type"}},
		{"takes iSCSI from 4.15 on", []wire.Disk{disk("sda", "iSCSI", from("10.0.0.1"))}, older("4.15.0"), nil},
		{"refuses iSCSI before", []wire.Disk{disk("sda", "iSCSI", from("10.0.0.1"))}, older("4.14.71"), []string{"drive type"}},
		{"takes all types without a version", []wire.Disk{disk("sda", "iSCSI", from("10.0.0.1"))}, older(""), nil},
		{"takes FC on x86_64", []wire.Disk{disk("sda", "FC")}, spec, nil},
		{"refuses FC on arm64", []wire.Disk{disk("sda", "FC")}, on("arm64"), []string{"arm64"}},
		{"takes mainframe disks on mainframes", []wire.Disk{disk("dasda", "ECKD (ESE)")}, on("s390x"), nil},
		{"refuses mainframe disks elsewhere", []wire.Disk{disk("dasda", "ECKD")}, spec, []string{"ECKD"}},
		{
			"refuses a path of a multipath device",
			[]wire.Disk{disk("sda", "FC", holders("dm-0")), disk("dm-0", "Multipath")},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"takes a multipath device over FC",
			[]wire.Disk{disk("dm-0", "Multipath"), disk("sda", "FC", holders("dm-0")), disk("sdb", "FC", holders("x,dm-0"))},
			spec, nil,
		},
		{
			"refuses a multipath device over mixed paths",
			[]wire.Disk{disk("dm-0", "Multipath"), disk("sda", "FC", holders("dm-0")), disk("sdb", "iSCSI", holders("dm-0"))},
			spec,
			[]string{"one kind of path"},
		},
		{
			"takes a multipath device over SAS",
			[]wire.Disk{disk("dm-0", "Multipath"), disk("sda", "HDD", holders("dm-0")), disk("sdb", "HDD", holders("dm-0"))},
			spec, nil,
		},
		{
			"refuses a path over SAS",
			[]wire.Disk{disk("sda", "HDD", holders("dm-0")), disk("sdb", "HDD", holders("dm-0")), disk("dm-0", "Multipath")},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"refuses a path of NVMe",
			[]wire.Disk{disk("nvme1n1", "SSD", holders("dm-3")), disk("dm-3", "Multipath")},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"refuses a path that the device lost",
			[]wire.Disk{
				disk("sdb", "HDD", wwn("0x5000C500A1B2C3D4")), disk("sda", "HDD", holders("dm-0"), wwn("0x5000c500a1b2c3d4")),
				disk("dm-0", "Multipath", wwn("0x5000c500a1b2c3d4")),
			},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"refuses a lost path of NVMe",
			[]wire.Disk{
				disk("nvme1n1", "SSD", wwn("eui.36343730586000010025385800000001")),
				disk("dm-0", "Multipath", byID("/dev/disk/by-id/dm-uuid-mpath-eui.36343730586000010025385800000001")),
			},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"refuses a path whose device has its name in its id alone",
			[]wire.Disk{
				disk("sdb", "FC", wwn("0x600a098038304437415d4b6a59676d51")),
				disk("dm-0", "Multipath", byID("/dev/disk/by-id/scsi-3600a098038304437415d4b6a59676d51")),
			},
			spec,
			[]string{"multipath device instead"},
		},
		{
			"counts a lost path among the paths of a device",
			[]wire.Disk{
				disk("dm-0", "Multipath", wwn("0x5000c500a1b2c3d4")), disk("sda", "HDD", holders("dm-0")),
				disk("sdb", "FC", wwn("0x5000c500a1b2c3d4")),
			},
			spec,
			[]string{"one kind of path"},
		},
		{
			"takes another unit of the array, whose names are cut",
			[]wire.Disk{disk("sdc", "FC", wwn("0x600a098038304437")), disk("dm-0", "Multipath", wwn("0x600a098038304437"))},
			spec, nil,
		},
		{
			"takes a disk of another size with the same name",
			[]wire.Disk{disk("sdc", "SSD", size(300e9), wwn("0x5000000000000001")), disk("dm-0", "Multipath", wwn("0x5000000000000001"))},
			spec, nil,
		},
		{
			"takes a disk of an array",
			[]wire.Disk{disk("sda", "HDD", holders("md0")), disk("md0", "RAID"), disk("dm-0", "Multipath")},
			spec, nil,
		},
		{"takes a disk with volumes", []wire.Disk{disk("sda", "HDD", holders("dm-0")), disk("dm-0", "LVM")}, spec, nil},
		{
			"refuses iSCSI over the NIC of the default route",
			[]wire.Disk{disk("sda", "iSCSI", from("192.168.8.10"))},
			spec,
			[]string{"default route"},
		},
		{"adds to what the agent found", []wire.Disk{disk("sda", "ODD", func(d *wire.Disk) {
			d.InstallationEligibility.NotEligibleReasons = []string{"Disk is removable"}
		})}, spec, []string{"Disk is removable", "drive type"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inv := newHost().Inventory
			inv.Disks = tt.disks
			for range 2 { // a second time changes nothing
				hardware.ApplyDiskEligibility(inv, tt.spec)
				got := inv.Disks[0].InstallationEligibility
				require.Equal(t, len(tt.says) == 0, got.Eligible, got.NotEligibleReasons)
				require.Len(t, got.NotEligibleReasons, len(tt.says))
				for i, part := range tt.says {
					require.Contains(t, got.NotEligibleReasons[i], part)
				}
			}
		})
	}
}

func TestEligibilityFollowsTheSpec(t *testing.T) {
	t.Parallel()
	inv := &wire.Inventory{Disks: []wire.Disk{disk("sda", "SSD", size(60e9))}}
	hardware.ApplyDiskEligibility(inv, hardware.DiskSpec{MinSizeGB: 100})
	require.False(t, inv.Disks[0].InstallationEligibility.Eligible)
	hardware.ApplyDiskEligibility(inv, hardware.DiskSpec{MinSizeGB: 50})
	require.True(t, inv.Disks[0].InstallationEligibility.Eligible)
}

func TestDefaultInstallationDisk(t *testing.T) {
	t.Parallel()
	bootable := func(d *wire.Disk) { d.Bootable = true }
	removable := func(d *wire.Disk) { d.Removable = true }
	hctl := func(text string) func(*wire.Disk) { return func(d *wire.Disk) { d.Hctl = text } }
	for _, tt := range []struct {
		name  string
		disks []wire.Disk
		want  string
	}{
		{
			"is none without an eligible one",
			[]wire.Disk{disk("sda", "SSD", func(d *wire.Disk) { d.InstallationEligibility.Eligible = false })},
			"",
		},
		{"prefers a bootable one", []wire.Disk{disk("sda", "HDD"), disk("nvme0n1", "SSD", bootable)}, "nvme0n1"},
		{"leaves NVMe for data", []wire.Disk{disk("nvme0n1", "SSD", size(100e9)), disk("sdb", "SSD")}, "sdb"},
		{"prefers HDD", []wire.Disk{disk("sda", "SSD"), disk("sdb", "HDD", size(900e9))}, "sdb"},
		{"prefers the smaller one", []wire.Disk{disk("sda", "SSD", size(300e9)), disk("sdb", "SSD")}, "sdb"},
		{"prefers the lower address", []wire.Disk{disk("sda", "SSD", hctl("1:0:0:0")), disk("sdb", "SSD", hctl("0:0:0:0"))}, "sdb"},
		{"leaves a removable one", []wire.Disk{disk("sda", "HDD", bootable, removable), disk("sdb", "SSD")}, "sdb"},
		{"takes a removable one when there is no other", []wire.Disk{disk("sda", "SSD", removable)}, "sda"},
		{"prefers the first of equals", []wire.Disk{disk("sda", "SSD"), disk("sdb", "SSD")}, "sda"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := hardware.DefaultInstallationDisk(&wire.Inventory{Disks: tt.disks})
			if tt.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, tt.want, got.Name)
		})
	}
	require.Nil(t, hardware.DefaultInstallationDisk(nil))
}

func TestFindDisk(t *testing.T) {
	t.Parallel()
	inv := newHost().Inventory
	inv.Disks = append(inv.Disks, disk("sdb", "SSD"))
	hardware.SetDiskIDs(inv)
	for _, ref := range []string{"/dev/disk/by-id/wwn-0x1", "/dev/disk/by-path/pci-1", "/dev/sda", "sda"} {
		require.Same(t, &inv.Disks[0], hardware.FindDisk(inv, ref), ref)
	}
	require.Equal(t, "/dev/sdb", inv.Disks[1].ID)
	require.Same(t, &inv.Disks[1], hardware.FindDisk(inv, "/dev/sdb"))
	require.Nil(t, hardware.FindDisk(inv, "/dev/sd"))
	require.Nil(t, hardware.FindDisk(inv, ""))
	require.Nil(t, hardware.FindDisk(nil, "sda"))
}

func TestDisksToFormat(t *testing.T) {
	t.Parallel()
	bootable := func(d *wire.Disk) { d.Bootable = true }
	h := newHost()
	h.Inventory.Disks = append(h.Inventory.Disks,
		disk("sdb", "SSD", bootable), disk("sdc", "SSD"), disk("sdd", "FC", bootable), disk("sde", "SSD", bootable),
		disk("sdf", "SSD", bootable, func(d *wire.Disk) { d.Removable = true }),
		disk("sdg", "SSD", bootable, func(d *wire.Disk) { d.IsInstallationMedia = true }),
	)
	h.SkipFormattingDisks = []string{"/dev/sde"}
	var names []string
	for _, d := range hardware.DisksToFormat(h) {
		names = append(names, d.Name)
	}
	require.Equal(t, []string{"sda", "sdb"}, names)
	require.Nil(t, hardware.DisksToFormat(&model.Host{}))
}

func TestDisksOfKeptPartitionsAreNotFormatted(t *testing.T) {
	t.Parallel()
	bootable := func(d *wire.Disk) { d.Bootable = true }
	heldBy := func(names string) func(*wire.Disk) { return func(d *wire.Disk) { d.Bootable, d.Holders = true, names } }
	persistent := func(h *model.Host) { h.Inventory.Boot.DeviceType = wire.Persistent }
	args := func(args ...string) func(*model.Host) { return func(h *model.Host) { h.InstallerArgs = args } }
	plain := []wire.Disk{disk("sda", "HDD", bootable), disk("sdb", "SSD", bootable)}
	multipath := []wire.Disk{
		disk("dm-0", "Multipath", bootable), disk("sda", "HDD", heldBy("dm-0")), disk("sdb", "HDD", heldBy("dm-0")), disk("sdc", "HDD", bootable),
	}
	layers := []wire.Disk{
		disk("md126", "RAID", bootable), disk("dm-0", "Multipath", heldBy("md126, md127")), disk("sda", "HDD", heldBy("dm-0")),
		disk("sdc", "HDD", bootable),
	}
	lost := []wire.Disk{
		disk("dm-0", "Multipath", bootable, wwn("0x5000c500a1b2c3d4")), disk("sda", "HDD", heldBy("dm-0")),
		disk("sdb", "HDD", bootable, wwn("0x5000c500a1b2c3d4")), disk("sdc", "HDD", bootable, wwn("0x5000c500a1b2c3d5")),
	}
	for name, c := range map[string]struct {
		disks  []wire.Disk
		change func(*model.Host)
		want   []string
	}{
		"nothing is kept":                        {plain, args("--append-karg", "a=b"), []string{"sda", "sdb"}},
		"partitions by label":                    {plain, args("--save-partlabel", "data"), []string{"sdb"}},
		"partitions by number":                   {plain, args("--save-partindex=5-"), []string{"sdb"}},
		"partitions up to a number":              {plain, args("--save-partindex", "-4"), []string{"sdb"}},
		"the system that runs":                   {plain, persistent, []string{"sdb"}},
		"partitions of a multipath disk":         {multipath, args("--save-partlabel=data"), []string{"sdc"}},
		"partitions of a disk that lost a path":  {lost, args("--save-partlabel=data"), []string{"sdc"}},
		"nothing of a multipath disk":            {multipath, args(), []string{"sda", "sdb", "sdc"}},
		"partitions of an array of multipath":    {layers, args("--save-partlabel=data"), []string{"sdc"}},
		"a table that is kept for a look at it":  {plain, args("--preserve-on-error"), []string{"sda", "sdb"}},
		"a kernel argument like an option to it": {plain, args("--append-karg", "--save-partlabel=x"), []string{"sda", "sdb"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost()
			h.Inventory.Disks = slices.Clone(c.disks)
			h.InstallationDiskID, h.InstallationDiskPath = "", h.Inventory.Disks[0].Path
			c.change(h)
			var names []string
			for _, d := range hardware.DisksToFormat(h) {
				names = append(names, d.Name)
			}
			require.Equal(t, c.want, names)
		})
	}
}

func TestDiskSpeedExempt(t *testing.T) {
	t.Parallel()
	h := newHost()
	require.False(t, hardware.DiskSpeedExempt(h))
	h.InstallerArgs = []string{"--save-partlabel", "data*"}
	require.True(t, hardware.DiskSpeedExempt(h))
	h = newHost()
	h.Inventory.Boot.DeviceType = wire.Persistent
	require.True(t, hardware.DiskSpeedExempt(h))
}

func TestInstallationDiskIsTheOneThatWasChosen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*model.Host)
		want   string
	}{
		"by its id":                  {func(h *model.Host) { h.InstallationDiskPath = "" }, "sda"},
		"by its path":                {func(h *model.Host) { h.InstallationDiskID = "" }, "sda"},
		"by its id, not by its path": {func(h *model.Host) { h.InstallationDiskPath = "/dev/sdb" }, "sda"},
		"none is chosen":             {func(h *model.Host) { h.InstallationDiskID, h.InstallationDiskPath = "", "" }, ""},
		"it is gone": {func(h *model.Host) {
			h.Inventory.Disks = h.Inventory.Disks[1:] // its name went to another
			h.Inventory.Disks[0].Name, h.Inventory.Disks[0].Path = "sda", "/dev/sda"
		}, ""},
		"without an inventory": {func(h *model.Host) { h.Inventory = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost()
			h.Inventory.Disks = append(h.Inventory.Disks, disk("sdb", "SSD"))
			tt.change(h)
			got := hardware.InstallationDisk(h)
			if tt.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, tt.want, got.Name)
		})
	}
}

func TestDataDisksAreFreeAndHoldNoSystem(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.Inventory.Disks = append(h.Inventory.Disks,
		disk("sdb", "SSD", size(100e9)), disk("sdc", "HDD", size(10e9)), disk("sdd", "FC", size(900e9)),
		disk("sde", "SSD", size(900e9), holders("dm-1")), disk("dm-1", "LVM", size(900e9)),
		disk("sdf", "SSD", size(900e9), func(d *wire.Disk) { d.Removable = true }),
		disk("sdg", "SSD", size(900e9), func(d *wire.Disk) { d.IsInstallationMedia = true }),
		disk("dm-0", "Multipath", size(300e9), wwn("0x5000c500a1b2c3d4")), disk("sdh", "SSD", size(300e9), holders("dm-0")),
		disk("sdi", "SSD", size(300e9), wwn("0x5000c500a1b2c3d4")), // a path that failed
	)
	count, largest := hardware.DataDisks(h, 50e9)
	require.Equal(t, 2, count, "sdb and dm-0")
	require.EqualValues(t, 300e9, largest)
	count, largest = hardware.DataDisks(h, 400e9)
	require.Zero(t, count)
	require.EqualValues(t, 300e9, largest, "the largest of any size")
	count, largest = hardware.DataDisks(&model.Host{}, 1)
	require.Zero(t, count)
	require.Zero(t, largest)
}
