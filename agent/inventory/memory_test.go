package inventory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/wire"
)

// smbios makes the tables that firmware leaves in /sys/firmware/dmi/tables/DMI (DMTF DSP0134 3.2,
// sections 6.1.2 and 7.18): the processor's table, one of each memory module with its size in MiB,
// and the end.
func smbios(mebibytes ...int) string {
	var tables strings.Builder
	tables.WriteString("\x04\x06\x00\x04\x01\x03" + "CPU0\x00\x00") // a table of another kind, cut short
	for _, size := range mebibytes {
		tables.WriteString(memoryModule(size))
	}
	tables.WriteString("\x7f\x04\x00\xfe" + "\x00\x00")
	return tables.String()
}

// memoryModule makes a table of type 17, 40 bytes long. Sizes from 32 GiB - 1 MiB on are in a field
// of their own.
func memoryModule(mebibytes int) string {
	table := []byte{
		0x11, 0x28, 0x00, 0x11, // type, length, handle
		0x00, 0x10, 0xfe, 0xff, // memory array, no information about errors
		72, 0, 64, 0, // widths
		byte(mebibytes), byte(mebibytes >> 8), // size
		0x09, 0x00, 0x01, 0x00, // DIMM, in no set, strings of its places
		0x1a, 0x80, 0x00, 0x80, 0x0c, // DDR4, synchronous, 3200 MT/s
		0, 0, 0, 0, 0, // strings, attributes
		0, 0, 0, 0, // extended size
		0x80, 0x0c, 0, 0, 0, 0, 0, 0, // speed, voltages
	}
	if mebibytes >= 0x7fff {
		table[12], table[13] = 0xff, 0x7f
		for n := range 4 {
			table[28+n] = byte(mebibytes >> (8 * n))
		}
	}
	return string(table) + "DIMM A1\x00\x00"
}

func TestMemoryIsThatOfTheModules(t *testing.T) {
	t.Parallel()
	const tables = "/sys/firmware/dmi/tables/DMI"
	kilobytes := []byte(memoryModule(0))
	kilobytes[12], kilobytes[13] = 0x00, 0x82 // 512 KiB
	unknown := []byte(memoryModule(0))
	unknown[12], unknown[13] = 0xff, 0xff
	for name, c := range map[string]struct {
		content string
		bytes   int
		method  wire.MemoryMethod
	}{
		"two of 16 GiB and an empty slot":         {smbios(16384, 0, 16384), 32 << 30, wire.Dmidecode},
		"64 GiB, which have a field of their own": {smbios(65536), 64 << 30, wire.Dmidecode},
		"256 GiB":                                {smbios(262144), 256 << 30, wire.Dmidecode},
		"a size in KiB":                          {string(kilobytes) + memoryModule(1), 1<<20 + 512<<10, wire.Dmidecode},
		"a size that the firmware does not know": {string(unknown) + memoryModule(1024), 1 << 30, wire.Dmidecode},
		"no module":                              {smbios(), 1 << 20, wire.Meminfo},
		"tables that break off":                  {memoryModule(1024) + memoryModule(1024)[:20], 1 << 30, wire.Dmidecode},
		"nonsense":                               {"\x11\xff", 1 << 20, wire.Meminfo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree{tables: c.content, "/proc/meminfo": "MemTotal: 1024 kB\n"}
			found := inventory.Collect(t.Context(), machine(t, files, network{}, nil)).Memory
			require.Equal(t, c.bytes, found.PhysicalBytes)
			require.Equal(t, c.method, found.PhysicalBytesMethod)
		})
	}
}
