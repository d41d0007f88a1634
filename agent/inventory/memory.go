package inventory

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/jaypipes/ghw"
	"github.com/u-root/u-root/pkg/smbios"

	"slipway/internal/wire"
)

func readMemory(_ context.Context, m Machine, into *wire.Inventory) error {
	usable := m.usableMemory()
	into.Memory = wire.Memory{UsableBytes: int(usable), PhysicalBytes: int(usable), PhysicalBytesMethod: wire.Meminfo}
	if physical := m.memoryModules(); physical > 0 {
		into.Memory.PhysicalBytes, into.Memory.PhysicalBytesMethod = int(physical), wire.Dmidecode
		return nil
	}
	if !m.exists("/sys/devices/system/memory/block_size_bytes") {
		return nil // ghw would search the system log
	}
	info, err := ghw.Memory(ghw.WithChroot(string(m.Root)), ghw.WithDisableWarnings())
	if err != nil {
		return err
	}
	if info.TotalPhysicalBytes >= usable {
		into.Memory.PhysicalBytes, into.Memory.PhysicalBytesMethod = int(info.TotalPhysicalBytes), wire.Ghw
	}
	return nil
}

// usableMemory returns the memory that the kernel manages, in bytes.
func (m Machine) usableMemory() int64 {
	for line := range strings.Lines(m.text("/proc/meminfo")) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
			return kibibytes(fields[1])
		}
	}
	return 0
}

// largestMemory is more than any machine has, in bytes: larger numbers are not sizes.
const largestMemory = 1 << 52

// kibibytes converts a number of units of 1024 bytes to bytes; 0 for an invalid number.
func kibibytes(number string) int64 {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > largestMemory>>10 {
		return 0
	}
	return n << 10
}

// memoryTables are the tables of the firmware as it left them (DMTF DSP0134).
const memoryTables = "/sys/firmware/dmi/tables/DMI"

// unknownSize is the size of a memory module that the firmware does not know.
const unknownSize = 0xffff

// memoryModules adds up the sizes of the modules the firmware lists, in bytes. What stands
// before a broken table counts.
func (m Machine) memoryModules() int64 {
	content, err := os.ReadFile(m.Root.Path(memoryTables))
	if err != nil {
		return 0
	}
	var total int64
	for len(content) > 0 {
		table, rest, err := smbios.ParseTable(content)
		if err != nil {
			break // also at the table that ends the others
		}
		content = rest
		if table.Type != smbios.TableTypeMemoryDevice {
			continue
		}
		module, err := smbios.NewMemoryDevice(table)
		if err == nil && module.Size != unknownSize && total <= largestMemory {
			total += int64(min(module.GetSizeBytes(), largestMemory))
		}
	}
	return total
}
