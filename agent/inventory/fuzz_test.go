package inventory_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// prints answers every command with the same text.
type prints string

func (p prints) Run(context.Context, hostexec.Cmd) (hostexec.Result, error) {
	return hostexec.Result{Stdout: string(p)}, nil
}

// rejected answers every command with the same text and a failure.
type rejected string

func (r rejected) Run(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	return hostexec.Result{Stdout: string(r)}, &hostexec.ExitError{Cmd: c.Name, Code: 1}
}

// plantAt writes files below a root that is used again and again.
func plantAt(t *testing.T, root string, files tree) {
	t.Helper()
	for path, content := range files {
		place := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
		_ = os.Remove(place) // a file that is cut to nothing is flushed to the disk when it is closed
		require.NoError(t, os.WriteFile(place, []byte(content), 0o644))
	}
}

// sound checks the invariants of the inventory of any machine.
func sound(t *testing.T, found *wire.Inventory) {
	t.Helper()
	_, err := json.Marshal(found)
	require.NoError(t, err)
	require.GreaterOrEqual(t, found.Memory.UsableBytes, 0)
	require.GreaterOrEqual(t, found.Memory.PhysicalBytes, 0)
	require.GreaterOrEqual(t, found.CPU.Count, 0)
	require.GreaterOrEqual(t, found.CPU.Frequency, float32(0))
	require.NotEmpty(t, found.BmcAddress)
	require.NotEmpty(t, found.TpmVersion)
	for _, disk := range found.Disks {
		require.True(t, disk.DriveType.Valid(), disk.DriveType)
		require.GreaterOrEqual(t, disk.SizeBytes, 0)
		require.NotEmpty(t, disk.ID)
		require.Equal(t, disk.InstallationEligibility.Eligible, len(disk.InstallationEligibility.NotEligibleReasons) == 0)
	}
}

func FuzzCommandOutput(f *testing.F) {
	for _, path := range []string{"bios-server", "uefi-server", "ipv6-only", "gpu", "vm-vmware"} {
		archive, err := os.ReadFile(filepath.Join("testdata", "hosts", path+".txtar"))
		require.NoError(f, err)
		f.Add(string(archive))
	}
	root := f.TempDir()
	setup := tree{
		"/sys/block/sda/size":               "1000\n",
		"/sys/class/net/eno1/device/vendor": "0x8086\n",
		"/proc/meminfo":                     "MemTotal: 1 kB\n",
	}
	for path, content := range setup {
		require.NoError(f, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(f, os.WriteFile(filepath.Join(root, path), []byte(content), 0o644))
	}
	links := network{links: []inventory.Link{link("eno1", "02:00:00:00:00:01", "device", "192.0.2.1/24")}}
	f.Fuzz(func(t *testing.T, output string) {
		for _, runner := range []hostexec.Runner{prints(output), rejected(output)} {
			sound(t, inventory.Collect(t.Context(), inventory.Machine{Root: hostexec.Root(root), Runner: runner, Links: links}))
		}
	})
}

func FuzzKernelValues(f *testing.F) {
	f.Add("flags\t: fpu\ncpu MHz\t: NaN\n", "MemTotal: 18446744073709551615 kB\n", "18446744073709551615", "E:ID_FS_TYPE=iso9660\n")
	f.Add(
		"# processors    : -4\nprocessor 0: machine = 8561\nvendor_id : IBM/S390\n",
		"VM00 Control Program: z/VM\n",
		"-1",
		"E:ID_MODEL\nE:=\n",
	)
	f.Add(
		"CPU implementer\t: 0x41\n",
		"/dev/sda1 /run/media/iso iso9660 ro 0 0\n/dev/sda\n",
		"0x0300",
		"C 03  x\n10de  NVIDIA\n\t1eb8  T4\n",
	)
	f.Add("", "", smbios(16384, 0x7fffffff), "")
	f.Add("clock\t\t: infMHz\n", "/dev/mapper/\\040 / \\134 rw\n", "mpath-3600", "\t\t\t\n")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, cpu, mounts, value, database string) {
		plantAt(t, root, tree{
			"/proc/cpuinfo": cpu, "/proc/meminfo": mounts, "/proc/sysinfo": mounts, "/proc/1/mounts": mounts, "/proc/cmdline": mounts,
			"/proc/self/mounts": "", "/sys/class/tpm/tpm0/tpm_version_major": value,
			"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": value,
			"/sys/block/sda/size": value, "/sys/block/sda/dev": "8:0", "/sys/block/sda/sda1/size": value,
			"/sys/block/sda/queue/rotational": value,
			"/sys/block/dm-0/dm/uuid":         value, "/sys/block/dm-0/dm/name": value, "/sys/block/dasda/device/discipline": value,
			"/sys/block/md0/size": value, "/run/udev/data/b8:0": database, "/usr/share/hwdata/pci.ids": database,
			"/sys/bus/pci/devices/0000:00:02.0/class": "0x030000", "/sys/bus/pci/devices/0000:00:02.0/vendor": value,
			"/sys/firmware/dmi/tables/DMI":                value,
			"/sys/devices/system/memory/block_size_bytes": value, "/sys/class/dmi/id/sys_vendor": value, "/sys/class/net/eno1/speed": value,
			"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": value,
		})
		links := network{links: []inventory.Link{link("eno1", "02:00:00:00:00:01", "device", "192.0.2.1/24")}}
		sound(t, inventory.Collect(t.Context(), inventory.Machine{Root: hostexec.Root(root), Runner: rejected(value), Links: links}))
	})
}
