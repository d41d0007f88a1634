package iso9660_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkGPT checks both copies of a GPT, its sums and that no partition is where it must
// not be; entries are how many partitions there are (nil: any), and are given back.
func checkGPT(t *testing.T, iso []byte, entries *int) *int {
	t.Helper()
	count := 0
	if string(iso[512:520]) == "EFI PART" {
		last := len(iso)/512 - 1
		require.Zero(t, len(iso)%2048)
		first := checkHeader(t, iso, 1, last)
		require.Equal(t, first, checkHeader(t, iso, last, 1))
		for i := 0; i < len(first); i += 128 {
			if e := first[i:]; [16]byte(e) != [16]byte{} {
				count++
				require.LessOrEqual(t, binary.LittleEndian.Uint64(e[32:]), binary.LittleEndian.Uint64(e[40:]))
				require.Less(
					t,
					binary.LittleEndian.Uint64(e[40:]),
					binary.LittleEndian.Uint64(iso[512+48:])+1,
					"partition within the usable part",
				)
			}
		}
	}
	if entries != nil {
		require.Equal(t, *entries, count)
	}
	return &count
}

// checkHeader checks one copy and gives its entries.
func checkHeader(t *testing.T, iso []byte, at, other int) []byte {
	t.Helper()
	header := append([]byte(nil), iso[at*512:at*512+92]...)
	require.Equal(t, "EFI PART", string(header[:8]))
	sum := binary.LittleEndian.Uint32(header[16:])
	clear(header[16:20])
	require.Equal(t, crc32.ChecksumIEEE(header), sum, "checksum of the header")
	require.EqualValues(t, at, binary.LittleEndian.Uint64(header[24:]))
	require.EqualValues(t, other, binary.LittleEndian.Uint64(header[32:]))
	start := int(binary.LittleEndian.Uint64(header[72:])) * 512
	entries := iso[start : start+128*int(binary.LittleEndian.Uint32(header[80:]))]
	require.Equal(t, crc32.ChecksumIEEE(entries), binary.LittleEndian.Uint32(header[88:]), "checksum of the entries")
	return entries
}
