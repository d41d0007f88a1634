package hardware_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/jaypipes/ghw"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/hardware"
)

func spec() hardware.Spec {
	return hardware.New("master-0", hardware.Master, netip.MustParsePrefix("192.0.2.10/24"), netip.MustParseAddr("192.0.2.1"))
}

func TestTreeIsWhatAHardwareReaderExpects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spec()
	root := hostexec.Root(filepath.Join(dir, "root"))
	err := s.WriteTree(root, "boot-1", func(d hardware.Disk) (string, error) {
		file := filepath.Join(dir, d.Name)
		return file, os.WriteFile(file, []byte("disk "+d.Name), 0o600)
	})
	require.NoError(t, err)

	blocks, err := ghw.Block(ghw.WithChroot(string(root)), ghw.WithDisableWarnings())
	require.NoError(t, err)
	require.Len(t, blocks.Disks, 2)
	sda := blocks.Disks[0]
	require.EqualValues(t, 120e9, sda.SizeBytes)
	require.Equal(t, ghw.DRIVE_TYPE_SSD, sda.DriveType)
	require.Equal(t, s.Disks[0].Serial, sda.SerialNumber)
	require.Equal(t, s.Disks[0].WWN, sda.WWN)
	cpu, err := ghw.CPU(ghw.WithChroot(string(root)), ghw.WithDisableWarnings())
	require.NoError(t, err)
	require.EqualValues(t, 8, cpu.TotalCores)
	memory, err := ghw.Memory(ghw.WithChroot(string(root)), ghw.WithDisableWarnings())
	require.NoError(t, err)
	require.EqualValues(t, 16<<30, memory.TotalPhysicalBytes)

	content, err := os.ReadFile(root.Path("/dev/disk/by-id/wwn-" + s.Disks[1].WWN))
	require.NoError(t, err)
	require.Equal(t, "disk sdb", string(content))
	serial, err := os.ReadFile(root.Path("/sys/class/dmi/id/board_serial"))
	require.NoError(t, err)
	require.Equal(t, s.Serial+"\n", string(serial))
}

func TestDiskIsFoundByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	s := spec()
	for _, name := range []string{"/dev/sda", "/dev/disk/by-id/wwn-" + s.Disks[0].WWN, "/dev/disk/by-path/pci-0000:00:17.0-ata-1"} {
		disk, found := s.Disk(name)
		require.True(t, found, name)
		require.Equal(t, "sda", disk.Name)
	}
	_, found := s.Disk("/dev/sdaa")
	require.False(t, found)
}

func TestMachinesDiffer(t *testing.T) {
	t.Parallel()
	one := spec()
	two := hardware.New("master-1", hardware.Master, netip.MustParsePrefix("192.0.2.11/24"), netip.Addr{})
	require.NotEqual(t, one.Serial, two.Serial)
	require.NotEqual(t, one.NICs[0].MAC, two.NICs[0].MAC)
	require.Equal(t, one, spec(), "the same machine every time")
}

func TestLinksShowAddressesAndTheDefaultRoute(t *testing.T) {
	t.Parallel()
	s := spec()
	require.NoError(t, s.Check())
	links, err := hardware.Links{Spec: &s}.Links()
	require.NoError(t, err)
	require.Equal(t, s.NICs[0].MAC, links[1].MAC.String())
	require.Equal(t, "192.0.2.10/24", links[1].Addresses[0].String())
	routes, err := hardware.Links{Spec: &s}.Routes()
	require.NoError(t, err)
	require.Equal(t, "0.0.0.0/0", routes[0].Destination.String())
	require.Equal(t, "192.0.2.1", routes[0].Gateway.String())
	require.Equal(t, "192.0.2.0/24", routes[1].Destination.String())
}

func TestCheckRefusesAnAddressThatIsNone(t *testing.T) {
	t.Parallel()
	s := spec()
	s.NICs[0].MAC = "52:54"
	require.ErrorContains(t, s.Check(), "interface eno1")
}

// A machine whose first NIC leads nowhere else.
func twoNICs() hardware.Spec {
	s := spec()
	storage := hardware.NIC{
		Name: "eno0", MAC: "52:54:00:00:00:01", MTU: 1500, SpeedMbps: 1000, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.10/24")},
	}
	s.NICs = append([]hardware.NIC{storage}, s.NICs...)
	return s
}

func TestDefaultRouteLeadsThroughTheNetworkOfTheGateway(t *testing.T) {
	t.Parallel()
	s := twoNICs()
	routes, err := hardware.Links{Spec: &s}.Routes()
	require.NoError(t, err)
	require.Len(t, routes, 3)
	require.Equal(t, "eno0", routes[0].Interface)
	require.Equal(t, "10.0.0.0/24", routes[0].Destination.String())
	require.Equal(t, "eno1", routes[1].Interface)
	require.Equal(t, "0.0.0.0/0", routes[1].Destination.String())
}

func TestNodesTakeTheAddressOfTheHintElseOfTheDefaultRoute(t *testing.T) {
	t.Parallel()
	s := twoNICs()
	for hint, want := range map[string]string{"": "192.0.2.10", "10.0.0.0": "10.0.0.10", "192.0.2.0": "192.0.2.10"} {
		var toward netip.Addr
		if hint != "" {
			toward = netip.MustParseAddr(hint)
		}
		require.Equal(t, []netip.Addr{netip.MustParseAddr(want)}, s.NodeAddresses(toward), hint)
	}
}
