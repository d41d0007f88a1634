package iso9660_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

// hostile are changes to an image of the tree below, and what is said of them.
var hostile = map[string]struct {
	change func(t *testing.T, iso []byte) []byte
	err    string
}{
	"no image":            {func(*testing.T, []byte) []byte { return make([]byte, 1<<20) }, "require identifier CD001"},
	"nothing":             {func(*testing.T, []byte) []byte { return nil }, "require data within the 0 bytes"},
	"cut off":             {func(_ *testing.T, iso []byte) []byte { return iso[:40<<10] }, "is it truncated?"},
	"another block size":  {set(32768+129, 2), "require logical blocks of 2048 bytes, found 512"},
	"no first descriptor": {set(32768, 3), "the primary volume descriptor is missing"},
	"no last descriptor": {func(_ *testing.T, iso []byte) []byte {
		return append(iso[:34816], bytes.Repeat(iso[32768:34816], 100)...)
	}, "no end after 64 volume descriptors"},
	"a root in the void": {wide(32768+158, 1<<31), "require data within the"},
	"a huge root":        {wide(32768+166, 1<<31), "require data within the"},
	"a folder in itself": {func(t *testing.T, iso []byte) []byte {
		copy(record(t, iso, "FOLDER")[2:10], iso[32768+158:])
		return iso
	}, "another folder has the same place"},
	"a file in the void": {
		func(t *testing.T, iso []byte) []byte { both(record(t, iso, "OTHER.IMG;1")[10:], 1<<31); return iso },
		`file "other.img": require data within`,
	},
	"no last extent": {inRecord("TWIN2.;1", 25, 0x80), `file "twin2": the last extent is missing`},
	"another file's": {inRecord("TWIN1.;1", 25, 0x80), `file "twin1": require another extent, found file`},
	"odd extents": {func(t *testing.T, iso []byte) []byte {
		return again(inRecord("TWIN1.;1", 25, 0x80)(t, iso), "TWIN2", "TWIN1")
	}, "require extents of whole blocks before the last, found 300"},
	"interleaved files": {inRecord("OTHER.IMG;1", 26, 1), "is interleaved"},
	"a short record":    {inRecord("OTHER.IMG;1", 0, 20), "require a directory record of 34 to"},
	"a long identifier": {inRecord("OTHER.IMG;1", 32, 250), "require an identifier within"},
	"a name with a slash": {
		func(_ *testing.T, iso []byte) []byte { return again(iso, "other.img", "../er.img") },
		"require a name without a slash",
	},
	"two files of a name": {
		func(_ *testing.T, iso []byte) []byte { return again(iso, "twin2", "twin1") },
		`two files have the name "twin1"`,
	},
	"endless continuation": {continued(0), "more than 64 continuations"},
	"continuation in void": {continued(1 << 30), "continuation of a record: require data within"},
}

func set(at int, value byte) func(*testing.T, []byte) []byte {
	return func(_ *testing.T, iso []byte) []byte { iso[at] = value; return iso }
}

func wide(at int, value uint32) func(*testing.T, []byte) []byte {
	return func(_ *testing.T, iso []byte) []byte { both(iso[at:], value); return iso }
}

func inRecord(id string, at int, value byte) func(*testing.T, []byte) []byte {
	return func(t *testing.T, iso []byte) []byte { record(t, iso, id)[at] = value; return iso }
}

func again(iso []byte, old, other string) []byte {
	return bytes.ReplaceAll(iso, []byte(old), []byte(other))
}

// continued lets a record's continuation be itself, so many blocks further.
func continued(blocks uint32) func(*testing.T, []byte) []byte {
	return func(_ *testing.T, iso []byte) []byte {
		at := bytes.LastIndex(iso, []byte("CE\x1c\x01"))
		both(iso[at+4:], uint32(at/2048)+blocks)
		both(iso[at+12:], uint32(at%2048))
		both(iso[at+20:], 28)
		return iso
	}
}

func TestHostileImagesAreRefused(t *testing.T) {
	t.Parallel()
	base := build(t, files{
		"folder/sub/file": "content", "other.img": strings.Repeat("o", 5000), "twin1": strings.Repeat("w", 300), "twin2": "2",
		strings.Repeat("n", 250): "long",
	}, "-r")
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			iso := c.change(t, bytes.Clone(base))
			_, err := iso9660.Read(bytes.NewReader(iso), int64(len(iso)))
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, err, "read ISO image: ")
		})
	}
}
