package remaster_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

const config = `{"ignition":{"version":"3.1.0"}}`

var arguments = []model.KernelArgument{{Operation: "append", Value: "rd.break=initqueue"}, {Operation: "append", Value: "quiet"}}

// base is an ISO of a test and what is known of it.
type base struct {
	*remaster.Base
	file io.ReaderAt
}

func build(t testing.TB, o isotest.Options) base {
	t.Helper()
	file, err := os.Open(isotest.Build(t, o))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	require.NoError(t, err)
	b, err := remaster.Inspect(file, info.Size())
	require.NoError(t, err)
	return base{b, file}
}

// bytes returns the content of a layout.
func (b base) bytes(t testing.TB, l *layout.Layout) []byte {
	t.Helper()
	content, err := io.ReadAll(l.Reader(b.file))
	require.NoError(t, err)
	require.EqualValues(t, l.Size(), len(content))
	return content
}

func (b base) own(t testing.TB) []byte {
	t.Helper()
	return b.bytes(t, layout.Of(layout.Base(0, b.Size())))
}

// disk is an image in memory.
type disk struct {
	t       testing.TB
	content []byte
	volume  *iso9660.Volume
}

func read(t testing.TB, content []byte) disk {
	t.Helper()
	v, err := iso9660.Read(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return disk{t, content, v}
}

func (d disk) place(path string) iso9660.Extent {
	d.t.Helper()
	f, ok := d.volume.File(path)
	require.True(d.t, ok, path)
	require.Len(d.t, f.Extents, 1, path)
	return f.Extents[0]
}

func (d disk) file(path string) string {
	d.t.Helper()
	e := d.place(path)
	return string(d.content[e.Offset : e.Offset+e.Length])
}

// area is an area that coreos-installer would write to.
type area struct {
	iso9660.Extent
	pad, end string
}

// areas reads kargs.json anew, with none of the code under test.
func (d disk) areas() (text string, areas []area) {
	d.t.Helper()
	var info struct {
		Default string
		Size    int64
		Files   []struct {
			Path     string
			Offset   int64
			Pad, End string
		}
	}
	require.NoError(d.t, json.Unmarshal([]byte(d.file("coreos/kargs.json")), &info))
	for _, f := range info.Files {
		areas = append(areas, area{iso9660.Extent{Offset: d.place(f.Path).Offset + f.Offset, Length: info.Size}, f.Pad, f.End})
	}
	return info.Default, areas
}

// kargs returns the arguments in an area: nothing but them, an end and padding is in it.
func (d disk) kargs(a area) string {
	d.t.Helper()
	content := string(d.content[a.Offset : a.Offset+a.Length])
	args, padding, ended := strings.Cut(content, a.end)
	require.True(d.t, ended)
	require.Equal(d.t, strings.Repeat(a.pad, len(padding)), padding)
	require.Equal(
		d.t,
		isotest.Marker,
		string(d.content[a.Offset+a.Length:a.Offset+a.Length+int64(len(isotest.Marker))]),
		"the area is in its place",
	)
	return args
}

// archives reads the files of gzip'ed cpio archives with zeros between them.
func archives(t testing.TB, content []byte) []map[string]string {
	t.Helper()
	var out []map[string]string
	for at := 0; at < len(content); {
		if content[at] == 0 {
			at++
			continue
		}
		require.Zero(t, at%4, "archives begin at a multiple of four")
		r := bytes.NewReader(content[at:])
		packed, err := gzip.NewReader(r)
		require.NoError(t, err)
		require.True(t, packed.ModTime.IsZero())
		packed.Multistream(false)
		raw, err := io.ReadAll(packed)
		require.NoError(t, err)
		out = append(out, members(t, raw))
		at = len(content) - r.Len()
	}
	return out
}

func members(t testing.TB, raw []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	archive := cpio.NewReader(bytes.NewReader(raw))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[h.Name] = h.Mode.String() + " " + string(content)
	}
}

// packedAs makes an archive of one file, as other parts of Slipway hand it over.
func packedAs(t testing.TB, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := cpio.NewWriter(packed)
	require.NoError(t, archive.WriteHeader(&cpio.Header{Name: name, Mode: cpio.TypeReg | 0o600, Links: 1, Size: int64(len(content))}))
	_, err := archive.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	require.NoError(t, packed.Close())
	return out.Bytes()
}
