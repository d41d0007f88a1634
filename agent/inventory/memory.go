package inventory

import (
	"context"
	"strconv"
	"strings"

	"github.com/jaypipes/ghw"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

func readMemory(ctx context.Context, m Machine, into *wire.Inventory) {
	usable := m.usableMemory()
	into.Memory = wire.Memory{UsableBytes: int(usable), PhysicalBytes: int(usable), PhysicalBytesMethod: wire.Meminfo}
	if physical := m.memoryModules(ctx); physical > 0 {
		into.Memory.PhysicalBytes, into.Memory.PhysicalBytesMethod = int(physical), wire.Dmidecode
		return
	}
	if !m.exists("/sys/devices/system/memory/block_size_bytes") {
		return // ghw would search the system log
	}
	info, err := ghw.Memory(ghw.WithChroot(string(m.Root)), ghw.WithDisableWarnings())
	if err == nil && info.TotalPhysicalBytes >= usable {
		into.Memory.PhysicalBytes, into.Memory.PhysicalBytesMethod = int(info.TotalPhysicalBytes), wire.Ghw
	}
}

// usableMemory is what the kernel manages, in bytes.
func (m Machine) usableMemory() int64 {
	for line := range strings.Lines(m.text("/proc/meminfo")) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
			return amount(fields[1], "kB")
		}
	}
	return 0
}

// memoryUnits are those of dmidecode, in bytes.
var memoryUnits = map[string]int64{
	"bytes": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// largestMemory is more than any machine has, in bytes: larger numbers are not sizes.
const largestMemory = 1 << 52

// amount is a number of units in bytes, 0 when it is none.
func amount(number, unit string) int64 {
	n, err := strconv.ParseInt(number, 10, 64)
	size := memoryUnits[unit]
	if err != nil || n < 0 || size == 0 || n > largestMemory/size {
		return 0
	}
	return n * size
}

// memoryModules adds up the sizes of the modules the firmware lists, in bytes.
func (m Machine) memoryModules(ctx context.Context) int64 {
	result, err := m.Runner.Run(ctx, hostexec.Cmd{Name: "dmidecode", Args: []string{"--type", "17"}})
	if err != nil {
		return 0
	}
	var total int64
	for line := range strings.Lines(result.Stdout) {
		size, found := strings.CutPrefix(strings.TrimSpace(line), "Size: ")
		if !found {
			continue
		}
		// "16 GB", or "No Module Installed"
		if fields := strings.Fields(size); len(fields) == 2 && total <= largestMemory {
			total += amount(fields[0], fields[1])
		}
	}
	return total
}
