package disks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/agent/smart"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// watchedDisks makes more disks of the machine, of the kinds that watch their health: QEMU's ATA and NVMe
// disks do, its SCSI disks do not.
func watchedDisks(t *testing.T) []string {
	t.Helper()
	args := []string{"-device", "virtio-scsi-pci"}
	for kind, device := range map[string]string{
		"ata": "ide-hd,bus=ide.0,serial=ata", "nvme": "nvme,serial=nvme", "scsi": "scsi-hd,serial=scsi",
	} {
		path := filepath.Join(t.TempDir(), kind)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, 64<<20))
		args = append(args, "-drive", "if=none,format=raw,id="+kind+",file="+path, "-device", device+",drive="+kind)
	}
	return args
}

func TestGuestInventoryNeedsNoPrograms(t *testing.T) {
	inGuest(t)
	found := inventory.Collect(t.Context(), inventory.Machine{
		Root: "/", Runner: hostexec.Exec{}, Links: inventory.Netlink{}, Health: smart.Disks{Root: "/"},
	})
	verdicts := map[string]string{}
	for _, disk := range found.Disks {
		if strings.HasPrefix(disk.Name, "sd") || strings.HasPrefix(disk.Name, "nvme") {
			verdicts[disk.Serial] = disk.Smart
		}
	}
	require.Equal(t, map[string]string{"ata": `{"passed":true}`, "nvme": `{"passed":true,"nvme":{"value":0}}`, "scsi": ""}, verdicts)
	require.Equal(t, 2<<30, found.Memory.PhysicalBytes, "as QEMU's firmware lists it")
	require.Equal(t, wire.Dmidecode, found.Memory.PhysicalBytesMethod)
}
