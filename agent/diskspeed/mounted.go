package diskspeed

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// refuseMounted refuses a device with a file system in use: it would not survive. Old
// volumes on the disk are no reason.
func (m Meter) refuseMounted(path string) error {
	disk, err := os.Stat(m.Root.Path(path))
	if err != nil {
		return err
	}
	mounts, err := os.ReadFile(m.Root.Path("/proc/1/mounts"))
	if err != nil {
		return nil // nothing is known to be mounted
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "/") {
			continue
		}
		source, err := os.Stat(m.Root.Path(fields[0]))
		if err == nil && same(disk, source) {
			return fmt.Errorf("%s is mounted on %s", path, fields[1])
		}
	}
	return nil
}

// same reports whether two names are of one device.
func same(x, y fs.FileInfo) bool {
	a, aKnown := x.Sys().(*syscall.Stat_t)
	b, bKnown := y.Sys().(*syscall.Stat_t)
	if aKnown && bKnown && a.Mode&b.Mode&syscall.S_IFMT == syscall.S_IFBLK {
		return a.Rdev == b.Rdev
	}
	return os.SameFile(x, y)
}
