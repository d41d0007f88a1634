package iso9660_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

// odd returns a tree with everything that names can be.
func odd() files {
	return files{
		"a":                              "a",
		"empty":                          "",
		"UPPER.and.Lower":                "case",
		strings.Repeat("long", 60):       "a long name",
		strings.Repeat("l", 255):         "the longest name",
		"images/ignition.img":            strings.Repeat("x", 5000),
		"link":                           "-> images/ignition.img",
		"far":                            "-> /" + strings.Repeat("../a/./"+strings.Repeat("y", 200)+"/", 4) + "end",
		"1/2/3/4/5/6/7/8/9/10/11/12/end": "deep",
		"ünïcode":                        "bytes",
	}
}

func TestReadsWhatXorrisoWrites(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"Rock Ridge":             {"-r"},
		"Joliet is ignored":      {"-r", "-J", "-joliet-long"},
		"moved folders":          {"-r", "-rr_reloc_dir", "moved"},
		"ids and times, too":     {"-R"},
		"checksums in the image": {"-r", "--md5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			iso := build(t, odd(), options...)
			require.Equal(t, odd(), contents(t, iso))
			v := read(t, iso)
			require.Equal(t, "rhcos-9.6.0", v.Label)
			require.EqualValues(t, len(iso), v.Size)
			f, ok := v.File("/images/ignition.img")
			require.True(t, ok)
			require.EqualValues(t, 5000, f.Size())
			root, ok := v.File("")
			require.True(t, ok)
			require.True(t, root.Dir)
			_, ok = v.File("images/nothing.img")
			require.False(t, ok)
		})
	}
}

func TestNamesWithoutRockRidge(t *testing.T) {
	t.Parallel()
	iso := build(t, files{"Images/PXE/rootfs.img": "r", "noext": "n"}, "--norock")
	require.Equal(t, files{"images/pxe/rootfs.img": "r", "noext": "n"}, contents(t, iso))
}

// record finds the directory record of an ISO name.
func record(t testing.TB, iso []byte, id string) []byte {
	t.Helper()
	at := bytes.Index(iso, []byte(id))
	require.Positive(t, at, id)
	return iso[at-33:]
}

func both(b []byte, n uint32) {
	binary.LittleEndian.PutUint32(b, n)
	binary.BigEndian.PutUint32(b[4:], n)
}

// beyond moves the content of far.img to behind 4 GiB, as in images of tens of GB.
func beyond(t testing.TB) (path string, offset int64) {
	t.Helper()
	iso := build(t, files{"far.img": "near", "other": "o"}, "-r")
	offset = 5 << 30
	both(record(t, iso, "FAR.IMG;1")[2:], uint32(offset/2048))
	both(iso[32768+80:], uint32(offset/2048+1))
	path = filepath.Join(t.TempDir(), "far.iso")
	f, err := os.Create(path) //nolint:gosec // the test's own file
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Write(iso)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("far!"), offset)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(offset+2048))
	return path, offset
}

func TestFilesBeyond4GiB(t *testing.T) {
	t.Parallel()
	path, offset := beyond(t)
	f, err := os.Open(path) //nolint:gosec // the test's own file
	require.NoError(t, err)
	defer f.Close()
	v, err := iso9660.Read(f, offset+2048)
	require.NoError(t, err)
	far, ok := v.File("far.img")
	require.True(t, ok)
	require.Equal(t, []iso9660.Extent{{Offset: offset, Length: 4}}, far.Extents)
	m, err := v.Remaster(f)
	require.NoError(t, err)
	at, ok := m.File("far.img")
	require.True(t, ok)
	content := make([]byte, at.Length)
	_, err = m.Layout.Reader(f).ReadAt(content, at.Offset)
	require.NoError(t, err)
	require.Equal(t, "far!", string(content))
	require.Less(t, m.Layout.Size(), int64(1<<20), "the hole belongs to no file")
}

// multi makes an image with a file of two extents, which files of 4 GiB and more have.
func multi(t testing.TB) ([]byte, string) {
	t.Helper()
	first, second := strings.Repeat("1234", 2048), "the end"
	iso := build(t, files{"big1.img": first, "big2.img": second, "other": "o"}, "-r")
	record(t, iso, "BIG1.IMG;1")[25] |= 0x80
	iso = bytes.ReplaceAll(iso, []byte("BIG2.IMG"), []byte("BIG1.IMG"))
	return bytes.ReplaceAll(iso, []byte("big2.img"), []byte("big1.img")), first + second
}

func TestFilesOfSeveralExtents(t *testing.T) {
	t.Parallel()
	iso, content := multi(t)
	f, ok := read(t, iso).File("big1.img")
	require.True(t, ok)
	require.Len(t, f.Extents, 2)
	want := files{"big1.img": content, "other": "o"}
	require.Equal(t, want, contents(t, iso))
	require.Equal(t, want, extracted(t, iso))

	again, m := remaster(t, iso, iso9660.Change{Path: "new", Content: []byte("n")})
	want["new"] = "n"
	require.Equal(t, want, contents(t, again))
	require.Equal(t, want, extracted(t, again))
	f, _ = read(t, again).File("big1.img")
	require.Len(t, f.Extents, 2)
	at, _ := m.File("big1.img")
	require.Equal(t, content, string(again[at.Offset:at.Offset+at.Length]), "extents follow each other")
}
