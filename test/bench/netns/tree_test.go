package netns_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The medium that hosts booted from, as their kernel and host.sh show it.
const (
	bootMedium    = "/dev/sr0"
	mediumContent = "the discovery image"
)

// planted are the disks of a host.
var planted = []string{"sda", "sdb"}

// plant writes the hardware tree of a host: a server with 8 processors, 32 GiB and two
// disks, that no other host has.
func plant(t *testing.T, root string, i int) {
	t.Helper()
	serial := fmt.Sprintf("NETNS%04d", i+1)
	files := map[string]string{
		bootMedium: mediumContent, "/run/media/iso/zipl.prm": "",
		"/proc/meminfo":                    "MemTotal:       33554432 kB\nMemFree: 30000000 kB\n",
		"/proc/cmdline":                    "coreos.liveiso=bench ignition.firstboot\n",
		"/proc/1/mounts":                   "/dev/loop1 /sysroot squashfs ro 0 0\n",
		"/sys/class/dmi/id/sys_vendor":     "Slipway\n",
		"/sys/class/dmi/id/product_name":   "Bench\n",
		"/sys/class/dmi/id/board_serial":   serial + "\n",
		"/sys/class/dmi/id/product_serial": serial + "\n",
	}
	var cpus strings.Builder
	for n := range 8 {
		fmt.Fprintf(&cpus, "processor\t: %d\nmodel name\t: Bench\ncpu MHz\t: 2000.0\nflags\t: fpu vmx\n\n", n)
	}
	files["/proc/cpuinfo"] = cpus.String()
	for n, disk := range planted {
		wwn := fmt.Sprintf("0x5000c500%04x%04x", i+1, n)
		block := "/sys/block/" + disk
		for path, content := range map[string]string{
			block + "/size": "251658240\n", block + "/dev": fmt.Sprintf("8:%d\n", 16*n), block + "/queue/rotational": "0\n",
			block + "/removable": "0\n", "/dev/" + disk: "", "/dev/disk/by-id/wwn-" + wwn: "-> ../../" + disk,
			fmt.Sprintf("/run/udev/data/b8:%d", 16*n): fmt.Sprintf(
				"E:ID_MODEL=Bench\nE:ID_SERIAL_SHORT=%s-%d\nE:ID_WWN_WITH_EXTENSION=%s\n", serial, n, wwn,
			),
		} {
			files[path] = content
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/sys"), 0o755))
	for path, content := range files {
		place := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
		if target, link := strings.CutPrefix(content, "-> "); link {
			require.NoError(t, os.Symlink(target, place))
			continue
		}
		require.NoError(t, os.WriteFile(place, []byte(content), 0o644))
	}
}
