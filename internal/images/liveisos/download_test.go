package liveisos_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/liveisos"
	"slipway/internal/model"
	"slipway/internal/testing/forkedchild"
)

func TestAListedImageIsDownloadedAndUsedAgain(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	_, err := b.Find("4.22", "", "")
	var not *liveisos.NotReady
	require.ErrorAs(t, err, &not)
	require.ErrorIs(t, err, model.ErrUnavailable)
	require.Equal(t, liveisos.StateWaiting, not.State)
	require.EqualError(t, err, "the operating system image of OpenShift 4.22 (x86_64) waits for its download: try again in 10s")

	stop := b.run()
	b.log.await(ready)
	b.requireContent("4.22", content)
	require.Equal(t, liveisos.StateReady, b.status("4.22").State)
	require.Len(t, b.files(), 2, "the image and its record")
	stop()

	later := b.restarted(nil)
	later.requireContent("4.22", content) // before it runs, too
	later.run()
	later.log.await(ready)
	require.Len(t, m.asked(""), 1, "what is there is not downloaded")
}

func TestADownloadGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	m.cut = 300_000
	image := listed("4.22", m.URL+"/live.iso")
	image.SHA256 = sum(content)
	b := newBench(t, openshift.OSImages{image}, nil)
	b.run()
	b.log.await(notYet)
	s := b.status("4.22")
	require.Equal(t, liveisos.StateFailed, s.State)
	require.EqualValues(t, 300_000, s.Done)
	require.EqualValues(t, len(content), s.Size)
	require.ErrorContains(t, s.Err, "get "+m.URL+"/live.iso: unexpected EOF")
	require.Equal(t, 1, s.Failures)
	_, err := b.Find("4.22", "", "")
	require.ErrorContains(t, err, "is not usable yet: try again in ")
	require.NotContains(t, err.Error(), "EOF", "callers see no internals")
	require.ErrorContains(t, errors.Unwrap(multi{err}), "EOF")

	m.set(func(m *mirror) { m.cut = 0 })
	b.clock.advance(t, 10*time.Second)
	b.log.await(again)
	b.log.await(ready)
	b.requireContent("4.22", content)
	require.Equal(t, []string{"", "bytes=300000-"}, m.asked("Range"))
	require.Equal(t, []string{"", `"1"`}, m.asked("If-Range"))
}

// multi unwraps to the last of several errors.
type multi struct{ error }

func (m multi) Unwrap() error {
	list := m.error.(interface{ Unwrap() []error }).Unwrap()
	return list[len(list)-1]
}

func TestADownloadBeginsAgainWhenItCannotGoOn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *mirror, content []byte){
		"the source changed":            func(m *mirror, content []byte) { m.content, m.etag = content, `"2"` },
		"the server sends no ranges":    func(m *mirror, content []byte) { m.content, m.noRanges = content, true },
		"the source is shorter now":     func(m *mirror, content []byte) { m.content = content[:len(content)-150_000] },
		"nothing names what was begun":  func(m *mirror, content []byte) { m.content, m.etag = content, "" },
		"the source has another length": func(m *mirror, content []byte) { m.content = append(content, make([]byte, 2048)...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, content := iso(t, "1"), iso(t, "2")
			m := newMirror(t, append(old, make([]byte, 150_000)...), `"1"`)
			m.cut = len(old)
			b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
			b.run()
			b.log.await(notYet)
			m.set(func(m *mirror) { change(m, content); m.cut = 0 })
			want := m.content
			b.clock.advance(t, 10*time.Second)
			before := b.log.await(ready)
			require.NotContains(t, before, again)
			b.requireContent("4.22", want)
		})
	}
}

func TestAnImageWithTheWrongDigestIsKeptOut(t *testing.T) {
	t.Parallel()
	content := iso(t, "right")
	m := newMirror(t, iso(t, "wrong"), `"wrong"`)
	image := listed("4.22", m.URL+"/live.iso")
	image.SHA256 = sum(content)
	b := newBench(t, openshift.OSImages{image}, nil)
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "sha256: require "+sum(content)+", found "+sum(m.content))
	require.Empty(t, b.files(), "nothing stays of it")

	b.clock.advance(t, 10*time.Second)
	b.log.await(notYet)
	require.Equal(t, []string{"", `"wrong"`}, m.asked("If-None-Match"), "the same content is not downloaded twice")
	require.ErrorContains(t, b.status("4.22").Err, "sha256: require ")

	m.set(func(m *mirror) { m.content, m.etag = content, `"right"` })
	b.clock.advance(t, 5*time.Minute)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestWhatIsNoImageIsKeptOut(t *testing.T) {
	t.Parallel()
	m := newMirror(t, []byte("<html>please log in</html>"), "")
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "require a live ISO of CoreOS: ")

	small := newMirror(t, iso(t, "1"), "")
	b = newBench(t, openshift.OSImages{listed("4.22", small.URL+"/live.iso")}, func(o *liveisos.Options) { o.Complete = nil })
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "require images/pxeboot/rootfs.img of at least", "as of an empty release")
}

func TestADownloadWaitsForDiskSpace(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	need := int64(len(content)) + int64(len(content))/20
	var mu sync.Mutex
	room := need - 1
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, func(o *liveisos.Options) {
		o.Free = func(string) (int64, error) {
			mu.Lock()
			defer mu.Unlock()
			return room, nil
		}
	})
	b.run()
	b.log.await(notYet)
	require.Regexp(t, `require [0-9.]+ MiB of free disk space in `+b.o.Folder+`, found [0-9.]+ MiB`, b.status("4.22").Err)
	mu.Lock()
	room = need
	mu.Unlock()
	b.clock.advance(t, 10*time.Second)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestABadImageStopsNoOther(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	gone := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(gone.Close)
	b := newBench(t, openshift.OSImages{
		listed("4.20", m.URL+"/20.iso"), listed("4.22", gone.URL+"/22.iso?token=hush"), listed("4.21", m.URL+"/21.iso"),
	}, nil)
	b.run()
	b.log.await(ready)
	b.log.await(ready)
	b.requireContent("4.21", content)
	b.requireContent("4.20", content)
	s := b.status("4.22")
	for s.State != liveisos.StateFailed {
		b.log.await(notYet)
		s = b.status("4.22")
	}
	require.EqualError(t, s.Err, "get "+gone.URL+"/22.iso: require 200 OK, found 404 Not Found")
	require.True(t, s.NextTry.After(b.clock.Now()))
}

func TestTwoImagesAreDownloadedAtATimeNewestFirst(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	arrived, leave := make(chan string, 3), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.URL.Path
		<-leave
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	b := newBench(t, openshift.OSImages{
		listed("4.9", server.URL+"/9"), listed("4.22", server.URL+"/22"), listed("4.10", server.URL+"/10"),
	}, nil)
	b.run()
	require.ElementsMatch(t, []string{"/22", "/10"}, []string{<-arrived, <-arrived})
	require.Equal(t, liveisos.StateWaiting, b.status("4.9").State)
	require.Equal(t, liveisos.StateDownloading, b.status("4.22").State)
	b.clock.advance(t, time.Second) // the store has looked once more
	require.Empty(t, arrived)
	leave <- struct{}{}
	require.Equal(t, "/9", <-arrived)
	close(leave)
}

// synced returns how much of a part its record promises.
func synced(t *testing.T, folder string) int64 {
	t.Helper()
	records, err := filepath.Glob(filepath.Join(folder, "*.part.json"))
	require.NoError(t, err)
	require.Len(t, records, 1)
	content, err := os.ReadFile(records[0])
	require.NoError(t, err)
	var record struct{ Synced int64 }
	require.NoError(t, json.Unmarshal(content, &record))
	return record.Synced
}

// leftBy copies a folder as a process that is killed now would leave it. The process runs
// on, so a record that it replaces may be gone under its first name: the old or the new one
// is copied under its own.
func leftBy(t *testing.T, folder string) string {
	t.Helper()
	left := t.TempDir()
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(left, f.Name()), content, 0o600))
	}
	return left
}

func TestAKilledDownloadGoesOnInANewProcess(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	m.cut, m.hold = 500_000, make(chan struct{})
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, func(o *liveisos.Options) { o.SyncBytes = 100_000 })
	b.run()
	<-m.hold
	// The last bytes are on their way, and some are known to be on the disk.
	for b.status("4.22").Done < 500_000 || synced(t, b.o.Folder) == 0 {
		b.clock.advance(t, time.Second)
	}
	left := leftBy(t, b.o.Folder)
	m.set(func(m *mirror) { m.cut = 0 })

	later := b.restarted(func(o *liveisos.Options) { o.Folder = left })
	part := later.status("4.22")
	require.Equal(t, liveisos.StateWaiting, part.State)
	require.EqualValues(t, 500_000, part.Done, "the available part is reported before the store runs")
	later.run()
	later.log.await(again)
	later.log.await(ready)
	later.requireContent("4.22", content)
	var from int
	_, err := fmt.Sscanf(m.asked("Range")[1], "bytes=%d-", &from)
	require.NoError(t, err)
	require.Positive(t, from, "what is known to be on the disk is not asked for again")
}

func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	m.cut, m.hold = 1000, make(chan struct{}, 1)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, func(o *liveisos.Options) { o.Stall = 200 * time.Millisecond })
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "no data received for 200ms")
}

func TestAnImageOfAnotherProcessIsLeftToIt(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	path := b.status("4.22").File
	require.NoError(t, os.MkdirAll(b.o.Folder, 0o755))
	lock, err := os.Create(filepath.Join(b.o.Folder, "."+filepath.Base(path)+".lock"))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	require.NoError(t, os.WriteFile(path+".part", content[:1234], 0o600))
	require.NoError(t, os.WriteFile(path+".part.json", []byte(`{"size":9999}`), 0o600))

	b.run()
	b.log.await("operating system image left to another process")
	s := b.status("4.22")
	require.Equal(t, liveisos.StateDownloading, s.State, "by the other process")
	require.EqualValues(t, 1234, s.Done)
	require.NoError(t, s.Err)
	require.Empty(t, m.asked(""))
	// Closing is not enough: see package forkedchild.
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
	require.NoError(t, lock.Close())
	b.clock.advance(t, 10*time.Second)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestAForkedChildDoesNotHoldAnImage(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	m.cut, m.hold = 500_000, make(chan struct{})
	b := newBench(t, openshift.OSImages{listed("4.22", m.URL+"/live.iso")}, nil)
	b.run()
	<-m.hold
	path := b.status("4.22").File
	forkedchild.Holds(t, filepath.Join(b.o.Folder, "."+filepath.Base(path)+".lock"))
	m.set(func(m *mirror) { m.cut = 0 })
	m.CloseClientConnections()
	b.log.await(notYet)
	b.clock.advance(t, 10*time.Second)
	b.log.await(again)
	b.log.await(ready)
	b.requireContent("4.22", content)
}

func TestSecretsOfDownloadsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	var first *http.Request
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first = r
		http.Redirect(w, r, m.URL+"/elsewhere.iso", http.StatusFound)
	}))
	t.Cleanup(portal.Close)
	b := newBench(t, openshift.OSImages{listed("4.22", portal.URL+"/live.iso?arch=x86_64")}, func(o *liveisos.Options) {
		o.Headers = map[string]model.Secret{"X-Key": "hush"}
		o.Query = map[string]model.Secret{"token": "quiet"}
	})
	b.run()
	b.log.await(ready)
	require.Equal(t, "hush", first.Header.Get("X-Key"))
	require.Equal(t, "arch=x86_64&token=quiet", first.URL.RawQuery)
	require.Equal(t, []string{""}, m.asked("X-Key"))
	require.Equal(t, []string{""}, m.asked("Referer"))

	portal.Close()
	b = b.restarted(func(o *liveisos.Options) { o.Folder = t.TempDir() })
	b.run()
	b.log.await(notYet)
	require.ErrorContains(t, b.status("4.22").Err, "get "+portal.URL+"/live.iso: dial tcp")
	require.NotContains(t, b.status("4.22").Err.Error(), "quiet")
}

func TestAnImageOnDemandIsDownloadedWhenItIsRequested(t *testing.T) {
	t.Parallel()
	content := iso(t, "1")
	m := newMirror(t, content, `"1"`)
	images := openshift.OSImages{listed("4.22", m.URL+"/live.iso"), listed("4.21", m.URL+"/older.iso")}
	onDemand := func(o *liveisos.Options) { o.OnDemand = true }
	b := newBench(t, images, onDemand)
	stop := b.run()
	_, err := b.Present("4.22", "", "")
	require.ErrorIs(t, err, model.ErrUnavailable)
	require.ErrorContains(t, err, "is downloaded when the image of an InfraEnv is requested")
	require.Equal(t, liveisos.StateOnDemand, b.status("4.22").State)
	_, err = b.Find("4.22", "", "")
	require.ErrorIs(t, err, model.ErrUnavailable)
	b.log.await(ready)
	b.requireContent("4.22", content)
	require.Equal(t, liveisos.StateOnDemand, b.status("4.21").State)
	require.Len(t, m.asked(""), 1, "the other one was not requested")
	stop()

	m.set(func(m *mirror) { m.cut = 300_000 })
	again := b.restarted(onDemand)
	stop = again.run()
	again.log.await(ready)
	_, err = again.Find("4.21", "", "")
	require.ErrorIs(t, err, model.ErrUnavailable)
	again.log.await(notYet)
	stop()

	m.set(func(m *mirror) { m.cut = 0 })
	last := b.restarted(onDemand)
	last.run()
	last.log.await(ready)
	last.log.await(ready) // a download that was begun is finished without another request
	last.requireContent("4.21", content)
}
