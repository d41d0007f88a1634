package liveisos_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

// inPlace describes an image that is a file of this machine.
func inPlace(version, path string) openshift.OSImage {
	o := listed(version, "file://"+path)
	o.Path = path
	return o
}

func TestOnlyWhatIsOfferedIsFound(t *testing.T) {
	t.Parallel()
	none := newBench(t, nil, nil)
	_, err := none.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrNotFound)
	require.EqualError(
		t,
		err,
		"no operating system image for OpenShift 4.22 (x86_64), available: none; list it in OS_IMAGES, or add it with: slipway "+
			"images add FILE",
	)

	b := newBench(t, openshift.OSImages{inPlace("4.20", "/nowhere/20.iso"), inPlace("4.22", "/nowhere/22.iso")}, nil)
	_, err = b.Find("4.22", "s390x", "")
	require.ErrorIs(t, err, model.ErrNotFound)
	require.ErrorContains(t, err, "for OpenShift 4.22 (s390x), available: 4.22 (x86_64), 4.20 (x86_64);")
	_, err = b.Find("4.22", "x86_64", openshift.TypeDisconnectedISO)
	require.ErrorIs(t, err, model.ErrNotFound)
	_, err = b.Find("newest", "x86_64", "")
	require.ErrorIs(t, err, model.ErrInvalid)
	_, err = liveisos.Open(liveisos.Options{Folder: "images"})
	require.ErrorContains(t, err, "require an absolute path")
}

func TestAFileOfTheSettingsIsUsedInPlace(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	path := filepath.Join(t.TempDir(), "live.iso")
	b := newBench(t, openshift.OSImages{inPlace("4.22", path)}, nil)
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "no such file")

	require.NoError(t, os.WriteFile(path, content, 0o600))
	first, err := b.Find("4.22", "x86_64", "")
	require.NoError(t, err, "at once, not at the next try")
	require.Equal(t, path, first.Path)
	same, err := b.Find("4.22.7", "x86_64", "")
	require.NoError(t, err)
	require.Same(t, first, same, "read once")
	require.Empty(t, b.files(), "never copied")

	other := iso(t, "2")
	require.NoError(t, os.WriteFile(path+".new", other, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
	_, err = first.Open()
	require.ErrorIs(t, err, model.ErrUnavailable, "what was read is not what is there")
	second, err := b.Find("4.22", "x86_64", "")
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, "rhcos-2", second.Base.Label())

	require.NoError(t, os.Remove(path))
	_, err = b.Find("4.22", "x86_64", "")
	var not *liveisos.NotReady
	require.ErrorAs(t, err, &not)
	b.log.await(notYet)
	require.Equal(t, liveisos.StateFailed, b.status("4.22").State)
}

// TestAFileIsAsNewAsItsPlace: parts of an image are put together by this time, where
// clients know no ETag.
func TestAFileIsAsNewAsItsPlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "live.iso"), filepath.Join(folder, "link.iso")
	long := time.Now().Add(-24 * time.Hour)
	put := func(label string) {
		require.NoError(t, os.WriteFile(path+".new", iso(t, label), 0o600))
		require.NoError(t, os.Chtimes(path+".new", long, long))
		require.NoError(t, os.Rename(path+".new", path))
	}
	begun := time.Now().Add(-time.Second) // the clock of file systems is coarse
	b := newBench(t, openshift.OSImages{inPlace("4.22", path), inPlace("4.20", link)}, nil)
	for _, label := range []string{"1", "2"} {
		put(label)
		require.NoError(t, errors.Join(os.Symlink(path, link+".new"), os.Rename(link+".new", link)))
		for _, version := range []string{"4.22", "4.20"} {
			found, err := b.Find(version, "x86_64", "")
			require.NoError(t, err)
			require.Equal(t, "rhcos-"+label, found.Base.Label())
			require.True(t, found.Modified.After(begun), "%s %s", version, found.Modified)
		}
	}
}

func TestAFolderThatHasJustChangedKeepsNobodyBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The clock of the bubble is years behind the folder's.
		looks := 0
		ctx, stop := context.WithCancel(t.Context())
		store, err := liveisos.Open(liveisos.Options{
			Folder: t.TempDir(), Images: openshift.OSImages{inPlace("4.22", "/nowhere/22.iso")},
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
			After: func(time.Duration) <-chan time.Time {
				if looks++; looks == 100 {
					stop()
				}
				return nil
			},
		})
		require.NoError(t, err)
		var done sync.WaitGroup
		done.Go(func() { store.Run(ctx) })
		synctest.Wait()
		stop()
		done.Wait()
		require.Less(t, looks, 10)
	})
}

func TestAFileOfTheSettingsIsCheckedByItsDigest(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	image := inPlace("4.22", filepath.Join(t.TempDir(), "live.iso"))
	image.SHA256 = sum(content)
	require.NoError(t, os.WriteFile(image.Path, iso(t, "wrong"), 0o600))
	b := newBench(t, openshift.OSImages{image}, nil)
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "sha256: require "+image.SHA256+", found ")
	_, err := b.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrUnavailable)

	pause := b.status("4.22").NextTry.Sub(b.clock.Now())
	b.clock.advance(t, pause)
	b.log.await(notYet)
	require.Greater(t, b.status("4.22").NextTry.Sub(b.clock.Now()), pause, "reading it again is no progress")

	require.NoError(t, os.WriteFile(image.Path, content, 0o600))
	b.clock.advance(t, 30*time.Second)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestAnImageIsReadOnceForManyWhoAsk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live.iso")
	require.NoError(t, os.WriteFile(path, iso(t, "1"), 0o600))
	var read atomic.Int32
	b := newBench(t, openshift.OSImages{inPlace("4.22", path)}, func(o *liveisos.Options) {
		o.Inspect = func(r io.ReaderAt, size int64) (*remaster.Base, error) {
			read.Add(1)
			return remaster.Inspect(r, size)
		}
	})
	b.run()
	var asking sync.WaitGroup
	for range 32 {
		asking.Go(func() {
			found, err := b.Find("4.22", "x86_64", "")
			if err != nil || found.Base == nil {
				t.Error("not found", err)
			}
			b.Status()
			b.Offered()
		})
	}
	asking.Wait()
	require.EqualValues(t, 1, read.Load())
}

func TestImagesOfOtherDigestsAreDownloadedAnew(t *testing.T) {
	t.Parallel()
	old, content := iso(t, "1"), iso(t, "2")
	m := newMirror(t, old, `"1"`)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	stop := b.run()
	b.log.await(ready)
	stop()
	m.set(func(m *mirror) { m.content, m.etag = content, `"2"` })
	b = b.restarted(func(o *liveisos.Options) {
		o.Images = openshift.OSImages{listed("4.22", m.URL+"/live.iso")}
		o.Images[0].SHA256 = sum(content)
	})
	_, err := b.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrUnavailable, "the file there has another digest")
	b.run()
	b.log.await(ready)
	b.requireContent("4.22", content)

	require.NoError(t, os.Truncate(b.status("4.22").File, 1000))
	_, err = b.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrUnavailable, "the file there is damaged")
	b.log.await(ready)
	b.requireContent("4.22", content)
}

// Attack: a download is exchanged on the disk after it was verified.
func TestADownloadThatChangedIsVerifiedAgain(t *testing.T) {
	t.Parallel()
	content, other := iso(t, "1"), iso(t, "2")
	require.Len(t, other, len(content))
	m := newMirror(t, content, `"1"`)
	image := listed("4.22", m.URL+"/live.iso")
	image.SHA256 = sum(content)
	b := newBench(t, openshift.OSImages{image}, nil)
	b.run()
	b.log.await(ready)
	require.Equal(t, sum(content), b.status("4.22").Digest)
	file := b.status("4.22").File
	put := func(content []byte) {
		require.NoError(t, os.WriteFile(file+".new", content, 0o600))
		require.NoError(t, os.Chtimes(file+".new", time.Time{}, time.Unix(1_700_000_000, 0)))
		require.NoError(t, os.Rename(file+".new", file))
	}
	put(content)
	b.requireContent("4.22", content) // restored without its time
	require.Len(t, m.asked(""), 1)

	put(other)
	_, err := b.Find("4.22", "x86_64", "")
	require.ErrorIs(t, err, model.ErrUnavailable, "the file there is another")
	b.log.await(ready)
	b.requireContent("4.22", content)
	require.Len(t, m.asked(""), 2)
}

func TestWhatNobodyNeedsIsTidiedUp(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/22.iso"), listed("4.20", m.URL+"/20.iso")}, nil)
	stop := b.run()
	b.log.await(ready)
	b.log.await(ready)
	stop()
	part := filepath.Join(b.o.Folder, "4.19-x86_64-0123456789ab.iso.part")
	foreign := []string{
		filepath.Join(b.o.Folder, "my.iso"), filepath.Join(b.o.Folder, "my.iso.part"), filepath.Join(b.o.Folder, "notes.json"),
	}
	for _, path := range append(foreign, part, part+".json", filepath.Join(b.o.Folder, "1.adding")) {
		require.NoError(t, os.WriteFile(path, []byte(`{"size":9}`), 0o600))
	}

	unlisted := b.status("4.20").File
	b = b.restarted(func(o *liveisos.Options) { o.Images = o.Images[:1] })
	b.run()
	b.log.await(ready)
	b.log.await("operating system image is not listed any more")
	b.clock.advance(t, time.Second) // it has tidied up
	require.NoFileExists(t, part)
	require.NoFileExists(t, part+".json")
	require.NoFileExists(t, filepath.Join(b.o.Folder, "1.adding"))
	require.FileExists(t, unlisted)
	for range 6 {
		b.clock.advance(t, 24*time.Hour)
	}
	b.clock.advance(t, time.Second) // the sixth day is over
	require.FileExists(t, unlisted, "for a week")
	b.clock.advance(t, 24*time.Hour)
	b.log.await("operating system image removed")
	require.NoFileExists(t, unlisted)
	require.NoFileExists(t, unlisted+".json")
	for _, path := range foreign {
		require.FileExists(t, path, "what somebody else put there stays")
	}
	b.requireContent("4.22", content)
}

func TestAnImageThatIsListedAgainStays(t *testing.T) {
	t.Parallel()
	m := newMirror(t, iso(t, "1"), `"1"`)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/22.iso")}, nil)
	stop := b.run()
	b.log.await(ready)
	stop()
	path := b.status("4.22").File
	for _, images := range []openshift.OSImages{nil, b.o.Images} {
		other := newBench(t, images, func(o *liveisos.Options) { o.Folder = b.o.Folder })
		stop := other.run()
		other.clock.advance(t, time.Second) // it has tidied up
		stop()
		record, err := os.ReadFile(path + ".json")
		require.NoError(t, err)
		if images == nil {
			require.Contains(t, string(record), "unlisted")
		} else {
			require.NotContains(t, string(record), "unlisted")
		}
	}
}

func TestMetricsTellHowImagesStand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live.iso")
	content := iso(t, "1")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	b := newBench(t, openshift.OSImages{inPlace("4.22", path), inPlace("4.20", path+".gone")}, nil)
	b.run()
	b.log.await(notYet)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(b.Collector())
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			got[key] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	require.Equal(t, map[string]float64{
		"slipway_os_image_bytes x86_64  4.20": 0, "slipway_os_image_bytes x86_64  4.22": float64(len(content)),
		"slipway_os_image_size_bytes x86_64  4.20": 0, "slipway_os_image_size_bytes x86_64  4.22": float64(len(content)),
		"slipway_os_image_ready x86_64  4.20": 0, "slipway_os_image_ready x86_64  4.22": 1,
		"slipway_os_image_download_failures_total x86_64  4.20": 1, "slipway_os_image_download_failures_total x86_64  4.22": 0,
	}, got)
}

func TestAnImageForS390XIsKnownAsOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	file := isotest.Build(t, isotest.Options{Architecture: "s390x"})
	_, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22", CPUArchitecture: "x86_64"})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "cpu_architecture: require the architecture of the kernel in "+file+", s390x, found x86_64")
	found, err := b.Add(t.Context(), liveisos.Addition{File: file, OpenShiftVersion: "4.22"})
	require.NoError(t, err)
	require.Equal(t, "s390x", found.CPUArchitecture)
}
