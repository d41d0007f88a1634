package iso9660_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

func TestChangesThatCannotBe(t *testing.T) {
	t.Parallel()
	tree := coreOS(t, strings.Repeat("efi boot", 8<<10))
	tree["link"] = "-> images"
	iso := build(t, tree, hybrid()...)
	v := read(t, iso)
	for name, c := range map[string]struct {
		change iso9660.Change
		err    string
	}{
		"removes what is not there": {
			iso9660.Change{Path: "images/none", Remove: true}, `file "images/none": does not exist and cannot be removed`,
		},
		"removes a folder":     {iso9660.Change{Path: "images", Remove: true}, "is a folder or a symbolic link, not a file"},
		"replaces the root":    {iso9660.Change{Path: "images/.."}, "is a folder or a symbolic link, not a file"},
		"replaces a link":      {iso9660.Change{Path: "link"}, "is a folder or a symbolic link, not a file"},
		"adds to no folder":    {iso9660.Change{Path: "none/file"}, "its folder does not exist"},
		"adds to a file":       {iso9660.Change{Path: "images/efiboot.img/file"}, "its folder does not exist"},
		"adds too long a name": {iso9660.Change{Path: strings.Repeat("x", 256)}, "require a name of at most 255 bytes"},
		"removes a loader": {
			iso9660.Change{Path: "isolinux/isolinux.bin", Remove: true}, "the boot image isolinux/isolinux.bin must not be removed",
		},
		"removes the EFI partition": {
			iso9660.Change{Path: "images/efiboot.img", Remove: true}, "the boot image images/efiboot.img must not be removed",
		},
		"empties the EFI partition": {
			iso9660.Change{Path: "images/efiboot.img"}, "the boot image images/efiboot.img must not be removed",
		},
		"takes the loader its table": {
			iso9660.Change{Path: "isolinux/isolinux.bin", Content: []byte("tiny")}, "require a boot loader with a table of 64 to",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Remaster(bytes.NewReader(iso), c.change)
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, err, "remaster ISO image: ")
		})
	}
}

func TestBootImagesCanBeReplaced(t *testing.T) {
	t.Parallel()
	iso := build(t, coreOS(t, strings.Repeat("efi boot", 8<<10)), hybrid()...)
	loader := strings.Repeat("\x00\x01\x02\x03", 3000) + "odd"
	iso, m := remaster(t, iso,
		iso9660.Change{Path: "isolinux/isolinux.bin", Content: []byte(loader)},
		iso9660.Change{Path: "images/efiboot.img", Content: bytes.Repeat([]byte("new"), 100_000)},
	)
	at, ok := m.File("isolinux/isolinux.bin")
	require.True(t, ok)
	table := iso[at.Offset+8:]
	sum := uint32(0)
	for i := 64; i < len(loader); i += 4 {
		var word [4]byte
		copy(word[:], loader[i:])
		sum += binary.LittleEndian.Uint32(word[:])
	}
	for i, want := range []uint32{16, uint32(at.Offset / 2048), uint32(len(loader)), sum} {
		require.Equal(t, want, binary.LittleEndian.Uint32(table[4*i:]))
	}
	efi, _ := m.File("images/efiboot.img")
	out := run(t, "xorriso", "-indev", save(t, iso), "-report_el_torito", "plain", "-report_system_area", "plain")
	require.Regexp(t, fmt.Sprintf(`El Torito boot img :   2  UEFI .* 586 +%d\n`, efi.Offset/2048), out)
	require.Regexp(t, fmt.Sprintf(`MBR partition +: +2 .* %d +586\n`, efi.Offset/512), out)
	require.Regexp(t, fmt.Sprintf(`GPT start and size +: +2 +%d +586\n`, efi.Offset/512), out)
	checkGPT(t, iso, nil)
}

// catalogue finds the entry of the last boot image.
func catalogue(t *testing.T, iso []byte) []byte {
	t.Helper()
	require.Equal(t, "EL TORITO", string(iso[17*2048+7:][:9]))
	at := 2048 * int(binary.LittleEndian.Uint32(iso[17*2048+71:]))
	return iso[at+32:]
}

func TestABootImageOfUnknownLength(t *testing.T) {
	t.Parallel()
	iso := build(t, coreOS(t, strings.Repeat("efi boot", 8<<10)), "-r", "-e", "images/efiboot.img", "-no-emul-boot", "-hide", "efiboot.img")
	remaster(t, iso) // of known length
	binary.LittleEndian.PutUint16(catalogue(t, iso)[6:], 1)
	_, err := read(t, iso).Remaster(bytes.NewReader(iso))
	require.ErrorContains(t, err, "the length of the boot image at byte")
	require.ErrorContains(t, err, "no file, no partition and 1 sectors")
}

func TestAddedNamesWithoutRockRidge(t *testing.T) {
	t.Parallel()
	iso := build(t, files{"file.txt": "1", "file2.txt": "2"}, "--norock")
	iso, _ = remaster(t, iso, iso9660.Change{Path: "file1.txt", Content: []byte("new")})
	want := files{"file.txt": "1", "file1.txt": "new", "file2.txt": "2"}
	require.Equal(t, want, contents(t, iso))
	_, err := read(t, iso).Remaster(bytes.NewReader(iso), iso9660.Change{Path: "Upper"})
	require.ErrorContains(t, err, "require a name of ISO characters in an image without Rock Ridge")
}

func TestNamesThatAreTheSameInISO(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("same", 20)
	iso := build(t, files{"x": "x"}, "-r")
	want := files{"x": "x"}
	var list []iso9660.Change
	for i := range 12 {
		name := fmt.Sprintf("%s-%d.extension", long, i)
		want[name] = name
		list = append(list, iso9660.Change{Path: name, Content: []byte(name)})
	}
	iso, _ = remaster(t, iso, list...)
	require.Equal(t, want, contents(t, iso))
	require.Equal(t, want, extracted(t, iso))
}

func TestASumOfTheWholeImageIsGone(t *testing.T) {
	t.Parallel()
	iso := build(t, files{"x": "x"}, "-r")
	copy(iso[32768+883:], "ISO MD5SUM = 0123456789abcdef0123456789abcdef;SKIPSECTORS = 15;")
	iso, _ = remaster(t, iso)
	require.Equal(t, strings.Repeat(" ", 512), string(iso[32768+883:][:512]))
}

// A link's fields may take several continuations, each within a block.
func TestFieldsOfSeveralBlocks(t *testing.T) {
	t.Parallel()
	var fields []byte
	var want []string
	for i := range 20 {
		part := fmt.Sprintf("%0200d", i)
		fields = append(append(fields, "SL\xcf\x01\x00\x00\xc8"...), part...)
		want = append(want, part)
	}
	iso := build(t, files{"fields": string(fields), "link": "-> " + strings.Repeat("y/", 120) + strings.Repeat("z", 200)}, "-r")
	f, _ := read(t, iso).File("fields")
	at := bytes.LastIndex(iso, []byte("CE\x1c\x01"))
	both(iso[at+4:], uint32(f.Extents[0].Offset/2048))
	both(iso[at+12:], 0)
	both(iso[at+20:], uint32(len(fields)))
	old, _ := read(t, iso).File("link")
	require.True(t, strings.HasSuffix(old.Link, strings.Join(want, "/")))
	iso, _ = remaster(t, iso)
	again, _ := read(t, iso).File("link")
	require.Equal(t, old.Link, again.Link)
	require.Equal(t, 3, bytes.Count(iso, []byte("CE\x1c\x01"))-1, "two blocks do not hold them; one is the root's")
}

// brokenPart reads anything but one part of an image.
type brokenPart struct {
	*bytes.Reader
	part iso9660.Extent
}

func (b brokenPart) ReadAt(to []byte, at int64) (int, error) {
	if at < b.part.Offset+b.part.Length && b.part.Offset < at+int64(len(to)) {
		return 0, fmt.Errorf("read of the broken part at %d", at)
	}
	return b.Reader.ReadAt(to, at)
}

func TestContentIsNotRead(t *testing.T) {
	t.Parallel()
	iso := build(t, coreOS(t, strings.Repeat("efi boot", 8<<10)), hybrid()...)
	rootfs, ok := read(t, iso).File("images/pxeboot/rootfs.img")
	require.True(t, ok)
	broken := brokenPart{bytes.NewReader(iso), rootfs.Extents[0]}
	v, err := iso9660.Read(broken, int64(len(iso)))
	require.NoError(t, err)
	m, err := v.Remaster(broken, changes()[1:]...)
	require.NoError(t, err)
	require.Less(t, len(m.Layout.Pieces()), 20, "files are long ranges of the old image")

	loader, _ := v.File("isolinux/isolinux.bin")
	_, err = v.Remaster(brokenPart{bytes.NewReader(iso), loader.Extents[0]})
	require.ErrorContains(t, err, "read of the broken part", "loaders are read")
}
