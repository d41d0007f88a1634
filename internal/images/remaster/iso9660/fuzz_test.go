package iso9660_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

// seeds adds small real images, packed: most of an image is zeros, and a fuzzer gets nowhere with
// hundreds of KiB.
func seeds(f *testing.F) {
	f.Helper()
	need(f, isolinuxMBR)
	loader := make([]byte, 6000)
	copy(loader[64:], "\xfb\xc0\x78\x70") // by this xorriso knows one that starts from disk, too
	tree := files{
		"isolinux/isolinux.bin": string(loader), "images/efiboot.img": strings.Repeat("\x00", 2400), "a/b/c": "-> ../../d",
		strings.Repeat("n", 250): "long", "1/2/3/4/5/6/7/8/9/end": "deep", "empty": "",
	}
	boot := []string{"-c", "isolinux/boot.cat", "-b", "isolinux/isolinux.bin", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"}
	efi := []string{"-eltorito-alt-boot", "-e", "images/efiboot.img", "-no-emul-boot"}
	for _, options := range [][]string{
		{"-r"}, {"--norock"}, append([]string{"-r"}, boot...), append(append([]string{"-R", "-J"}, boot...), efi...), hybrid(),
	} {
		iso := build(f, tree, append(options, "-no-pad")...)
		require.Equal(f, iso, unpack(pack(iso)))
		f.Add(pack(iso))
	}
}

// pack writes runs: two bytes, how many times 16 zeros; one, how many times 16 bytes
// follow.
func pack(iso []byte) []byte {
	var out []byte
	zero := make([]byte, 16)
	for len(iso) > 0 {
		zeros, data := 0, 0
		for len(iso) > 16*zeros && zeros < 0xffff && bytes.Equal(iso[16*zeros:][:16], zero) {
			zeros++
		}
		iso = iso[16*zeros:]
		for len(iso) > 16*data && data < 0xff && !bytes.Equal(iso[16*data:][:16], zero) {
			data++
		}
		out = append(append(out, byte(zeros>>8), byte(zeros), byte(data)), iso[:16*data]...)
		iso = iso[16*data:]
	}
	return out
}

func unpack(packed []byte) []byte {
	out := make([]byte, 0, 2<<20)
	for len(packed) >= 3 && len(out) < 8<<20 {
		out = append(out, make([]byte, 16*(int(packed[0])<<8|int(packed[1])))...)
		data := packed[3:min(3+16*int(packed[2]), len(packed))]
		out = append(out, data...)
		packed = packed[3+len(data):]
	}
	return out
}

func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, packed []byte) {
		iso := unpack(packed)
		v, err := iso9660.Read(bytes.NewReader(iso), int64(len(iso)))
		if err != nil {
			return
		}
		for _, file := range v.Files() {
			found, ok := v.File(file.Path)
			require.True(t, ok)
			require.Equal(t, file, found)
			for _, e := range file.Extents {
				require.LessOrEqual(t, e.Offset+e.Length, int64(len(iso)))
				require.GreaterOrEqual(t, e.Offset, int64(0))
				require.Positive(t, e.Length)
			}
		}
	})
}

// FuzzRemaster checks that a remastered image has the same content as the old one.
func FuzzRemaster(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, packed []byte) {
		iso := unpack(packed)
		v, err := iso9660.Read(bytes.NewReader(iso), int64(len(iso)))
		if err != nil {
			return
		}
		m, err := v.Remaster(bytes.NewReader(iso), iso9660.Change{Path: "added.img", Content: []byte("new")})
		if err != nil {
			return
		}
		require.Zero(t, m.Layout.Size()%2048)
		if m.Layout.Size() > 64<<20 {
			return // files may share their data and ask for more than there is
		}
		var again bytes.Buffer
		_, err = io.Copy(&again, m.Layout.Reader(bytes.NewReader(iso)))
		require.NoError(t, err)
		n, err := iso9660.Read(bytes.NewReader(again.Bytes()), int64(again.Len()))
		require.NoError(t, err)
		require.Equal(t, v.Label, n.Label)
		for _, old := range v.Files() {
			file, ok := n.File(old.Path)
			if old.Path == "added.img" {
				continue
			}
			require.True(t, ok, old.Path)
			require.Equal(t, old.Dir, file.Dir)
			require.Equal(t, old.Link, file.Link)
		}
		added, ok := n.File("added.img")
		require.True(t, ok)
		at, ok := m.File("added.img")
		require.True(t, ok)
		require.Equal(t, []iso9660.Extent{at}, added.Extents)
		require.Equal(t, "new", string(again.Bytes()[at.Offset:at.Offset+at.Length]))
	})
}
