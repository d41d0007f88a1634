package remaster_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

// counted counts what is read of an image.
type counted struct {
	io.ReaderAt
	bytes *int
}

func (c counted) ReadAt(p []byte, at int64) (int, error) {
	*c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, at)
}

// changed makes a base with other files.
func changed(t testing.TB, own disk, files map[string]string) (content []byte) {
	t.Helper()
	var all []iso9660.Change
	for path, text := range files {
		all = append(all, iso9660.Change{Path: path, Content: []byte(text)})
	}
	m, err := own.volume.Remaster(bytes.NewReader(own.content), all...)
	require.NoError(t, err)
	content, err = io.ReadAll(m.Layout.Reader(bytes.NewReader(own.content)))
	require.NoError(t, err)
	return content
}

func TestAnAreaOutsideOfItsFileIsRefused(t *testing.T) {
	t.Parallel()
	own := read(t, build(t, isotest.Options{}).own(t))
	for text, reason := range map[string]string{
		`{"file":"images/none.img"}`: `the image has no file "images/none.img"`,
		`{}`:                         `the image has no file ""`,
		`{"file":"images"}`:          `the image has no file "images"`,
		`{"file":"images/ignition.img","offset":1}`: "require a range of the 262144 bytes of images/ignition.img in " +
			"one piece, found 0 bytes at 1",
		`{"file":"images/ignition.img","offset":-1,"length":5}`:       "found 5 bytes at -1",
		`{"file":"images/ignition.img","offset":262144,"length":1}`:   "found 1 bytes at 262144",
		`{"file":"images/ignition.img","length":9223372036854775807}`: "found 9223372036854775807 bytes at 0",
		`{"file":"images/ignition.img","offset":9223372036854775807}`: "at 9223372036854775807",
		`{"file":`:                             "read coreos/igninfo.json",
		strings.Repeat(" ", 1<<20) + "{}":      "require at most 1048576 bytes, found 1048578",
		`{"file":"images/ignition.img"}` + "x": "read coreos/igninfo.json",
	} {
		content := changed(t, own, map[string]string{"coreos/igninfo.json": text})
		_, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
		require.ErrorContains(t, err, reason)
	}
	content := changed(t, own, map[string]string{"coreos/igninfo.json": `{"file":"/images/ignition.img","offset":4096,"length":1000}`})
	b, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	require.EqualValues(t, 1000, b.IgnitionRoom())

	_, err = remaster.Inspect(strings.NewReader("no image"), 8)
	require.Error(t, err)
}

func TestAreasThatLieOverEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	own := read(t, build(t, isotest.Options{}).own(t))
	content := changed(t, own, map[string]string{"coreos/igninfo.json": `{"file":"EFI/redhat/grub.cfg"}`})
	b, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	_, err = b.Full(remaster.Parts{Ignition: []byte(config), KernelArguments: arguments})
	require.ErrorContains(t, err, "require a range of its own")
}

// An image with broken areas is good enough without changes of kernel arguments.
func TestBrokenAreasForArgumentsAreNoticedWhenTheyAreUsed(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	own := read(t, b.own(t))
	grub, isolinux := own.file("EFI/redhat/grub.cfg"), own.file("isolinux/isolinux.cfg")
	for name, test := range map[string]struct {
		files  map[string]string
		reason string
	}{
		"fails without a marker": {
			map[string]string{"coreos/kargs.json": "{}", "EFI/redhat/grub.cfg": "", "isolinux/isolinux.cfg": ""},
			"the files of its boot loaders have no areas for them",
		},
		"fails without a marker in a listed file": {
			map[string]string{
				"coreos/kargs.json":     `{"size":10,"files":[{"path":"EFI/redhat/grub.cfg","offset":5},{"path":"isolinux/isolinux.cfg"}]}`,
				"isolinux/isolinux.cfg": "",
			},
			"isolinux/isolinux.cfg has no area for them",
		},
		"fails with too many files": {
			map[string]string{"coreos/kargs.json": `{"files":[{}` + strings.Repeat(",{}", 64) + `]}`},
			"require at most 64 files in coreos/kargs.json, found 65",
		},
		"fails with a list that is too long": {
			map[string]string{"coreos/kargs.json": strings.Repeat(" ", 1<<20) + "{}"}, "require at most 1048576 bytes",
		},
	} {
		content := changed(t, own, test.files)
		broken, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err, name)
		_, err = broken.Full(remaster.Parts{Ignition: []byte(config)})
		require.NoError(t, err, name)
		_, err = broken.Full(remaster.Parts{KernelArguments: arguments})
		require.ErrorIs(t, err, model.ErrConflict, name)
		require.ErrorContains(t, err, test.reason, name)
	}
	for name, info := range map[string]string{
		"an offset into a menu":   `{"size":1137,"files":[{"path":"EFI/redhat/grub.cfg","offset":10}]}`,
		"an offset behind it all": `{"size":1137,"files":[{"path":"EFI/redhat/grub.cfg","offset":9223372036854775807}]}`,
		"no size":                 `{"files":[{"path":"EFI/redhat/grub.cfg","offset":145}]}`,
		"padding of two signs":    `{"size":1137,"files":[{"path":"EFI/redhat/grub.cfg","offset":145,"pad":"##"}]}`,
		"no JSON":                 `{`,
	} {
		content := changed(t, own, map[string]string{"coreos/kargs.json": info})
		found, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err, name)
		l, err := found.Full(remaster.Parts{KernelArguments: arguments})
		require.NoError(t, err, name)
		edited := read(t, base{found, bytes.NewReader(content)}.bytes(t, l)).file("EFI/redhat/grub.cfg")
		require.Contains(t, edited, "ignition.platform.id=metal rd.break=initqueue quiet\n##", "the marker is used: "+name)
		require.Equal(t, len(grub), len(edited))
	}
	require.NotEmpty(t, isolinux)
}

func FuzzIgnitionInfo(f *testing.F) {
	own := read(f, build(f, isotest.Options{}).own(f))
	f.Add([]byte(`{"file":"images/ignition.img"}`))
	f.Add([]byte(`{"file":"images/efiboot.img","offset":100,"length":2000}`))
	f.Add([]byte(`{"file":"images/ignition.img","offset":9223372036854775807,"length":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, info []byte) {
		content, read := changed(t, own, map[string]string{"coreos/igninfo.json": string(info)}), 0
		b, err := remaster.Inspect(counted{bytes.NewReader(content), &read}, int64(len(content)))
		require.Less(t, read, 4<<20)
		if err != nil {
			return
		}
		l, err := b.Full(remaster.Parts{Ignition: []byte(config)})
		if err == nil {
			require.Equal(t, b.Size(), l.Size())
		}
	})
}

func FuzzKargs(f *testing.F) {
	own := read(f, build(f, isotest.Options{}).own(f))
	info, grub, isolinux := own.file("coreos/kargs.json"), own.file("EFI/redhat/grub.cfg"), own.file("isolinux/isolinux.cfg")
	f.Add([]byte(info), []byte(grub), []byte(isolinux))
	f.Add([]byte(`{"size":9223372036854775807,"files":[{"path":"isolinux/isolinux.cfg","offset":1}]}`), []byte(grub), []byte(isolinux))
	f.Add(
		[]byte(
			`{"size":5,"default":7,"files":[{"path":"EFI/redhat/grub.cfg","offset":0,"pad":"\n"},{"path":"EFI/redhat/grub.cfg","offset":3,"end":""}]}`,
		),
		[]byte("\n\n\n\n\n\n\n\n\n"),
		[]byte("append initrd=x"),
	)
	f.Fuzz(func(t *testing.T, info, grub, isolinux []byte) {
		content, read := changed(
			t,
			own,
			map[string]string{
				"coreos/kargs.json":     string(info),
				"EFI/redhat/grub.cfg":   string(grub),
				"isolinux/isolinux.cfg": string(isolinux),
			},
		), 0
		file := counted{bytes.NewReader(content), &read}
		b, err := remaster.Inspect(file, int64(len(content)))
		require.NoError(t, err)
		require.Less(t, read, 16<<20)
		if l, err := b.Full(remaster.Parts{KernelArguments: arguments}); err == nil {
			require.Equal(t, b.Size(), l.Size())
		}
		if m, err := b.Minimal(file, remaster.MinimalOptions{RootfsURL: rootfsURL}); err == nil {
			same, err := m.With(remaster.Parts{})
			require.NoError(t, err)
			require.Equal(t, m.Size(), same.Size())
			require.Equal(t, layout.Of(same.Pieces()...).Size(), same.Size())
		}
	})
}
