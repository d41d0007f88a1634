package remaster_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/testing/isotest"
)

// slice reads a range of a layout, piece by piece, as it is sent.
func (b base) slice(t testing.TB, l *layout.Layout, offset, length int64) []byte {
	t.Helper()
	var out []byte
	for p := range l.Range(offset, length) {
		out = append(out, b.bytes(t, layout.Of(p))...)
	}
	return out
}

// far makes a base with its initramfs beyond 4 GiB: a hole in a file, and directories that point
// behind it.
func far(t *testing.T, o isotest.Options) base {
	t.Helper()
	const beyond = 5<<30 + 6*2048
	near := build(t, o)
	content := near.own(t)
	e := read(t, content).place("images/pxeboot/initrd.img")
	initrd := bytes.Clone(content[e.Offset : e.Offset+e.Length])
	clear(content[e.Offset : e.Offset+e.Length])
	old, moved := record(e.Offset, e.Length), record(beyond, e.Length)
	require.Positive(t, bytes.Count(content, old))
	content = bytes.ReplaceAll(content, old, moved)

	file, err := os.CreateTemp(t.TempDir(), "far-*.iso")
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	_, err = file.Write(content)
	require.NoError(t, err)
	_, err = file.WriteAt(initrd, beyond)
	require.NoError(t, err)
	const size = beyond + 8*2048
	require.NoError(t, file.Truncate(size))
	b, err := remaster.Inspect(file, size)
	require.NoError(t, err)
	return base{b, file}
}

// record makes a directory's entry of the place of a file (ECMA-119, 9.1.3 and 9.1.4): block and length, each
// in both byte orders.
func record(offset, length int64) []byte {
	var out []byte
	for _, n := range []int64{offset / 2048, length} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n)) //nolint:gosec // small
		out = binary.BigEndian.AppendUint32(out, uint32(n))    //nolint:gosec // small
	}
	return out
}

var parts = remaster.Parts{Ignition: []byte(config), KernelArguments: arguments, Ramdisk: bytes.Repeat([]byte("network"), 10_000)}

func TestAnyRangeOfAnImageIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	near, beyond := build(t, isotest.Options{RootfsSize: 3 << 20}), far(t, isotest.Options{})
	full, err := near.Full(parts)
	require.NoError(t, err)
	small, err := minimal(t, near, []byte("2")).With(parts)
	require.NoError(t, err)
	farSmall, err := minimal(t, beyond, nil).With(parts)
	require.NoError(t, err)
	initrd, err := beyond.PXEInitrd(parts)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(3, 4))
	for name, image := range map[string]struct {
		base
		*layout.Layout
	}{
		"full": {near, full}, "minimal": {near, small},
		"minimal of a base beyond 4 GiB": {beyond, farSmall}, "initramfs beyond 4 GiB": {beyond, initrd},
	} {
		whole := image.bytes(t, image.Layout)
		for range 300 {
			from, length := random.Int64N(int64(len(whole))), 1+random.Int64N(100<<10)
			got := image.slice(t, image.Layout, from, length)
			require.True(t, bytes.Equal(whole[from:min(from+length, int64(len(whole)))], got), "%s: %d bytes at %d", name, length, from)
		}
	}
}

func TestFilesBeyond4GiBAreRead(t *testing.T) {
	t.Parallel()
	b := far(t, isotest.Options{})
	near := read(t, build(t, isotest.Options{}).own(t)).file("images/pxeboot/initrd.img")
	initrd, err := b.PXEInitrd(parts)
	require.NoError(t, err)
	require.Equal(t, near, string(b.slice(t, initrd, 0, 7001)))
	made := b.with(t, minimal(t, b, nil), parts)
	require.Equal(t, near, made.file("images/pxeboot/initrd.img"))

	full, err := b.Full(parts)
	require.NoError(t, err)
	require.Equal(t, b.Size(), full.Size())
	require.Equal(t, near, string(b.slice(t, full, 5<<30+6*2048, 7001)))
	changed := map[int64]bool{}
	own := make([]byte, 64<<10)
	for at := int64(0); at < 4<<20; at += int64(len(own)) { // all that is in front of the hole
		n, err := b.file.ReadAt(own, at)
		require.True(t, err == nil || err == io.EOF)
		if !bytes.Equal(own[:n], b.slice(t, full, at, int64(n))) {
			changed[at] = true
		}
	}
	require.NotEmpty(t, changed)
	require.Less(t, len(changed), 10)
}
