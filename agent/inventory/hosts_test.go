package inventory_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/cluster/hardware"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the golden inventories anew")

// TestCollectReadsEveryShape compares the inventories of the recorded machines with
// those in testdata/hosts.
func TestCollectReadsEveryShape(t *testing.T) {
	t.Parallel()
	all := shapes(t)
	require.GreaterOrEqual(t, len(all), 12)
	for name, path := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := inventory.Collect(t.Context(), record(t, path).machine(t))
			var text bytes.Buffer
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", " ")
			require.NoError(t, encoder.Encode(found))
			golden(t, filepath.Join("testdata", "hosts", name+".json"), text.Bytes())
		})
	}
}

// TestTheServiceFindsTheDiskToInstall judges the recorded machines as the service does:
// an inventory is right when the right disk is written.
func TestTheServiceFindsTheDiskToInstall(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"bios-server": "sda", "uefi-server": "sdb", "nvme": "nvme2n1", "multipath-fc": "dm-0", "iscsi-boot": "sda", "raid": "md126",
		"arm64": "nvme0n1", "bond-vlan": "sda", "ipv6-only": "sda", "vm-kvm": "vda", "vm-vmware": "sda", "gpu": "nvme0n1",
		"edge": "mmcblk0", "s390x": "dasda",
	}
	all := shapes(t)
	require.Len(t, want, len(all), "every shape has its disk")
	for name, path := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := inventory.Collect(t.Context(), record(t, path).machine(t))
			least := int64(100)
			if name == "edge" {
				least = 15 // docs/reference/validation-rules.md, "Edge workers"
			}
			hardware.ApplyDiskEligibility(found, hardware.DiskSpec{
				MinSizeGB: least, OpenShiftVersion: "4.20.0", CPUArchitecture: found.CPU.Architecture,
			})
			disk := hardware.DefaultInstallationDisk(found)
			require.NotNil(t, disk)
			require.Equal(t, want[name], disk.Name)
		})
	}
}

// TestEveryDiskHasAnIDOfItsOwn holds for all shapes: the service knows disks by it.
func TestEveryDiskHasAnIDOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, path := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := inventory.Collect(t.Context(), record(t, path).machine(t))
			require.NotEmpty(t, found.Disks)
			seen := map[string]string{}
			for _, disk := range found.Disks {
				require.NotEmpty(t, disk.ID)
				require.Empty(t, seen[disk.ID], "%s has the id of another disk", disk.Name)
				seen[disk.ID] = disk.Name
				require.True(t, disk.DriveType.Valid())
				require.Equal(t, disk.ID, hardware.DiskID(&disk), "the service makes the same id")
				require.Equal(t, disk.InstallationEligibility.Eligible, len(disk.InstallationEligibility.NotEligibleReasons) == 0)
			}
		})
	}
}

// TestInventoryOfAStillMachineStaysTheSame guards the service: only changes are sent.
func TestInventoryOfAStillMachineStaysTheSame(t *testing.T) {
	t.Parallel()
	machine := record(t, shapes(t)["uefi-server"]).machine(t)
	require.Equal(t, collected(t, machine), collected(t, machine))
}

func collected(t *testing.T, m inventory.Machine) *wire.Inventory {
	t.Helper()
	return inventory.Collect(t.Context(), m)
}
