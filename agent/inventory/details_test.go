package inventory_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/wire"
)

func TestBootTellsStatesApart(t *testing.T) {
	t.Parallel()
	const variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	for name, c := range map[string]struct {
		files  tree
		secure wire.SecureBootState
		device wire.BootDeviceType
		mode   string
	}{
		"no variable, no sysroot": {tree{}, wire.SecureBootStateNotSupported, "", "bios"},
		"disabled, on a disk": {
			tree{variable: "\x06\x00\x00\x00\x00", "/proc/1/mounts": "/dev/sda4 /sysroot xfs rw 0 0\n"},
			wire.SecureBootStateDisabled,
			wire.Persistent, "uefi",
		},
		"enabled, in an image": {
			tree{variable: "\x06\x00\x00\x00\x01", "/proc/1/mounts": "/dev/loop1 /sysroot erofs ro 0 0\n"},
			wire.SecureBootStateEnabled,
			wire.Ephemeral, "uefi",
		},
		"a value without a meaning": {tree{variable: "\x06\x00\x00\x00\x07"}, wire.SecureBootStateUnknown, "", "uefi"},
		"a value that is too long":  {tree{variable: "\x06\x00\x00\x00\x01\x00"}, wire.SecureBootStateUnknown, "", "uefi"},
		"the agent's own mounts are the last": {
			tree{"/proc/mounts": "/dev/loop1 /sysroot erofs ro 0 0\n"}, wire.SecureBootStateNotSupported, wire.Ephemeral, "bios",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boot := inventory.Collect(t.Context(), machine(t, c.files, network{}, nil)).Boot
			require.Equal(t, c.secure, boot.SecureBootState)
			require.Equal(t, c.device, boot.DeviceType)
			require.Equal(t, c.mode, boot.CurrentBootMode)
		})
	}
}

func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	found := inventory.Collect(
		t.Context(),
		machine(t, tree{}, network{links: []inventory.Link{link("eno1", "02:00:00:00:00:01", "bond")}}, nil),
	)
	require.NotNil(t, found.Disks)
	require.NotNil(t, found.Gpus)
	require.NotNil(t, found.Routes)
	require.NotNil(t, found.Interfaces[0].Ipv4Addresses)
	require.NotNil(t, found.Interfaces[0].Ipv6Addresses)
}

// TestTheRootMayHaveAnyName guards the drive types, which are read from paths.
func TestTheRootMayHaveAnyName(t *testing.T) {
	t.Parallel()
	m := machine(t, tree{
		"/session1/rport-1/sys/devices/pci0/0:0:0:0/vendor": "ATA\n",
		"/session1/rport-1/sys/block/sda/device":            "-> ../../devices/pci0/0:0:0:0",
		"/session1/rport-1/sys/block/sda/size":              "1000\n",
	}, network{}, nil)
	m.Root += "/session1/rport-1"
	require.Equal(t, wire.DriveTypeSSD, inventory.Collect(t.Context(), m).Disks[0].DriveType)
}

func TestAddressesGetTheNetworkOfTheirLink(t *testing.T) {
	t.Parallel()
	onLink := func(nic, network string) inventory.Route {
		return inventory.Route{Interface: nic, Destination: netip.MustParsePrefix(network)}
	}
	behind := onLink("eno1", "2001:db8::/32")
	behind.Gateway = netip.MustParseAddr("fe80::1")
	for name, c := range map[string]struct {
		routes []inventory.Route
		want   string
	}{
		"the longest network on the link": {
			[]inventory.Route{onLink("eno1", "2001:db8::/56"), onLink("eno1", "2001:db8::/64"), onLink("eno1", "2001:db8::5/128")},
			"2001:db8::5/64",
		},
		"not one behind a router":             {[]inventory.Route{behind}, "2001:db8::5/128"},
		"not one of another link":             {[]inventory.Route{onLink("eno2", "2001:db8::/64")}, "2001:db8::5/128"},
		"not everything, on a point to point": {[]inventory.Route{onLink("eno1", "::/0")}, "2001:db8::5/128"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			links := network{links: []inventory.Link{link("eno1", "02:00:00:00:00:01", "bond", "2001:db8::5/128")}, routes: c.routes}
			found := inventory.Collect(t.Context(), machine(t, tree{}, links, nil))
			require.Equal(t, []string{c.want}, found.Interfaces[0].Ipv6Addresses)
		})
	}
}

func TestHealthIsAskedOfDisksThatHaveIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"multipath-fc": nil, // LUNs have none
		"uefi-server":  {"/dev/sda", "/dev/sdb", "/dev/sdc"},
		"nvme":         {"/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1"},
		"vm-kvm":       nil,
	} {
		m := record(t, shapes(t)[name]).machine(t)
		inventory.Collect(t.Context(), m)
		health, is := m.Health.(*verdicts)
		require.True(t, is)
		require.Equal(t, want, health.asked, name)
	}
}
