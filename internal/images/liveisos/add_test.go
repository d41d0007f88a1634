package liveisos_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

func TestAnAddedImageIsFoundWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	service := newBench(t, nil, nil)
	service.run()
	_, err := service.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrNotFound)

	file := isotest.Build(t, isotest.Options{})
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	command := service.restarted(nil)
	var done, size int64
	added, err := command.Add(t.Context(), liveisos.Addition{
		File: file, OpenShiftVersion: "4.22", SHA256: "sha256:" + sum(content), OnProgress: func(d, s int64) { done, size = d, s },
	})
	require.NoError(t, err)
	require.Equal(t, "9.6.0", added.Version, "of the volume's label")
	require.Equal(t, "x86_64", added.CPUArchitecture)
	require.EqualValues(t, len(content), done)
	require.EqualValues(t, len(content), size)

	service.requireContent("4.22", content)
	require.NoError(t, os.Remove(file))
	service.requireContent("4.22", content)
	offered := service.Offered()
	require.Len(t, offered, 1)
	require.Equal(t, "file://"+added.Path, offered[0].URL)
	require.Equal(t, sum(content), offered[0].SHA256)
	s := service.status("4.22")
	require.True(t, s.Added)
	require.Equal(t, liveisos.StateReady, s.State)

	removed, err := command.Remove("4.22", "x86_64", "")
	require.NoError(t, err)
	require.Equal(t, []string{added.Path}, removed)
	_, err = service.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrNotFound)
	_, err = command.Remove("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrNotFound)
	require.Empty(t, service.files())
}

func TestAnAddedImageTakesThePlaceOfTheOneBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	for _, label := range []string{"rhcos-1", "rhcos-2", "rhcos-2"} {
		file := isotest.Build(t, isotest.Options{Label: label})
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22"})
		require.NoError(t, err)
		b.requireContent("4.22", content)
		require.Len(t, b.files(), 2)
	}
	file := isotest.Build(t, isotest.Options{Label: "rhcos-3"})
	_, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22", Type: openshift.TypeDisconnectedISO})
	require.NoError(t, err)
	require.Len(t, b.files(), 4, "another type stands beside it")
	found, err := b.Find("4.22", "", openshift.TypeDisconnectedISO)
	require.NoError(t, err)
	require.Equal(t, "rhcos-3", found.Base.Label())
}

func TestAnAddedImageStandsForTheListedOne(t *testing.T) {
	t.Parallel()
	content := iso(t, "listed")
	m := newMirror(t, content, `"1"`)
	m.etag, m.content = "", nil // not an image yet
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	b.run()
	b.log.await(notYet)
	file := isotest.Build(t, isotest.Options{})
	_, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22"})
	require.NoError(t, err)
	found, err := b.Find("4.22", "", "")
	require.NoError(t, err)
	require.Equal(t, "rhcos-9.6.0", found.Base.Label())
	require.Len(t, b.Status(), 1)
	b.clock.advance(t, time.Hour)
	b.clock.advance(t, time.Hour)
	require.Len(t, m.asked(""), 1, "the listed one is not needed now")

	m.set(func(m *mirror) { m.content = content })
	_, err = b.Remove("4.22", "x86_64", "")
	require.NoError(t, err)
	_, err = b.Find("4.22", "", "")
	require.ErrorIs(t, err, model.ErrUnavailable)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestAnImageIsRefusedWithoutATrace(t *testing.T) {
	t.Parallel()
	file := isotest.Build(t, isotest.Options{})
	text := filepath.Join(t.TempDir(), "text.iso")
	require.NoError(t, os.WriteFile(text, []byte("no ISO"), 0o600))
	for name, c := range map[string]struct {
		a     liveisos.Addition
		error string
	}{
		"a file that is no ISO":    {liveisos.Addition{File: text, OpenShiftVersion: "4.22"}, text + ": require a live ISO of CoreOS: "},
		"a folder":                 {liveisos.Addition{File: filepath.Dir(text), OpenShiftVersion: "4.22"}, "require a file, found "},
		"a file that is not there": {liveisos.Addition{File: text + ".gone", OpenShiftVersion: "4.22"}, "no such file"},
		"no version":               {liveisos.Addition{File: file}, "openshift_version: require one such as 4.22"},
		"another digest": {
			liveisos.Addition{File: file, OpenShiftVersion: "4.22", SHA256: sum(nil)},
			"sha256 of " + file + ": require " + sum(nil) + ", found ",
		},
		"what is no digest": {
			liveisos.Addition{File: file, OpenShiftVersion: "4.22", SHA256: "cafe"}, "sha256: require 64 hexadecimal digits",
		},
		"an unknown type": {
			liveisos.Addition{File: file, OpenShiftVersion: "4.22", Type: "minimal-iso"}, "require none or disconnected-iso",
		},
		"a digest of a linked file": {liveisos.Addition{File: file, OpenShiftVersion: "4.22", SHA256: sum(nil), Link: true}, "sha256 of "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, nil)
			require.NoError(t, os.MkdirAll(b.o.Folder, 0o755))
			_, err := b.Add(t.Context(), c.a)
			require.ErrorContains(t, err, c.error)
			require.Empty(t, b.files())
			require.Empty(t, b.Offered())
		})
	}
	full := newBench(t, nil, func(o *liveisos.Options) { o.Free = func(string) (int64, error) { return 1 << 20, nil } })
	_, err := full.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22"})
	require.ErrorContains(t, err, "of free disk space in "+full.o.Folder+", found 1.0 MiB")
	require.Empty(t, full.files())
}

func TestWhatIsNoFileOrHasNoDigestIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	pipe := filepath.Join(t.TempDir(), "pipe.iso")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	_, err := b.Add(t.Context(), liveisos.Addition{File: pipe, OpenShiftVersion: "4.22"})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "require a file, found "+pipe)
	placed, checked := inPlace("4.22", pipe), inPlace("4.22", pipe)
	checked.SHA256 = strings.Repeat("a", 64)
	require.ErrorContains(t, whyNot(newBench(t, openshift.OSImages{placed}, nil)), "require a file, found "+pipe)
	require.ErrorContains(t, whyNot(newBench(t, openshift.OSImages{checked}, nil)), "sha256: require "+checked.SHA256)

	file := isotest.Build(t, isotest.Options{})
	_, err = b.Add(t.Context(), liveisos.Addition{
		File: file, OpenShiftVersion: "4.22", SHA256: "12",
		OnProgress: func(int64, int64) { require.Fail(t, "copied before the digest was looked at") },
	})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "sha256: require 64 hexadecimal digits")
}

// whyNot returns why an image is not ready.
func whyNot(b *bench) error {
	_, err := b.Find("4.22", "x86_64", "")
	var not *liveisos.NotReady
	require.ErrorAs(b.t, err, &not)
	b.run()
	b.log.await(notYet)
	return b.status("4.22").Err
}

func TestALinkedImageCostsNoSpace(t *testing.T) {
	t.Parallel()
	file := isotest.Build(t, isotest.Options{})
	b := newBench(t, nil, func(o *liveisos.Options) { o.Free = func(string) (int64, error) { return 0, nil } })
	added, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22", Link: true})
	require.NoError(t, err)
	one, err := os.Stat(file)
	require.NoError(t, err)
	other, err := os.Stat(added.Path)
	require.NoError(t, err)
	require.True(t, os.SameFile(one, other))

	later := one.ModTime().Add(time.Hour)
	require.NoError(t, os.Chtimes(file, later, later))
	changed, err := b.Find("4.22", "", "")
	require.NoError(t, err)
	require.NotEqual(t, added.ID, changed.ID, "somebody may have written to the file")
}

func TestTheArchitectureIsThatOfTheKernel(t *testing.T) {
	t.Parallel()
	program := func(machine uint16) []byte { // a program of UEFI, as kernels are
		head := make([]byte, 0x100)
		copy(head, "MZ")
		head[0x3c] = 0x80
		copy(head[0x80:], "PE\x00\x00")
		binary.LittleEndian.PutUint16(head[0x84:], machine)
		return head
	}
	power := make([]byte, 64)
	copy(power, "\x7fELF\x02\x01")
	power[18] = 21
	for architecture, head := range map[string][]byte{"x86_64": program(0x8664), "arm64": program(0xaa64), "ppc64le": power} {
		t.Run(architecture, func(t *testing.T) {
			t.Parallel()
			file := isotest.Build(t, isotest.Options{})
			patchKernel(t, file, head)
			b := newBench(t, nil, nil)
			added, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22"})
			require.NoError(t, err)
			require.Equal(t, architecture, added.CPUArchitecture)
			_, err = b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22", CPUArchitecture: "s390x"})
			require.ErrorContains(t, err, "require the architecture of the kernel in "+file+", "+architecture+", found s390x")
		})
	}
}

// patchKernel writes the begin of an ISO's kernel.
func patchKernel(t *testing.T, file string, head []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	base, err := remaster.Inspect(f, info.Size())
	require.NoError(t, err)
	kernel, err := base.Kernel()
	require.NoError(t, err)
	for piece := range kernel.Range(0, kernel.Size()) {
		_, err = f.WriteAt(head, piece.Offset)
		require.NoError(t, err)
		return
	}
}

func TestImagesAreAddedAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	b.run()
	var adding sync.WaitGroup
	for _, version := range []string{"4.19", "4.20", "4.21", "4.22"} {
		file := isotest.Build(t, isotest.Options{Label: "rhcos-" + version})
		adding.Go(func() {
			if _, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: version}); err != nil {
				t.Error(err)
			}
		})
	}
	adding.Wait()
	for _, version := range []string{"4.19", "4.20", "4.21", "4.22"} {
		found, err := b.Find(version, "", "")
		require.NoError(t, err)
		require.Equal(t, "rhcos-"+version, found.Base.Label())
	}
}
