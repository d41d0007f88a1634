package release_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/await"
	"slipway/internal/testing/forkedchild"
	"slipway/internal/testing/httpclient"
)

// hang makes an installer that writes the ids of itself and a child to a file, and never ends.
func hang(file string) []string {
	return []string{"/bin/sh", "-c", `sleep 1000 & echo $$ $! > '` + file + `.new'; mv '` + file + `.new' '` + file + `'; wait`}
}

// hanging waits for the processes of hang.
func hanging(t *testing.T, file string) []int {
	t.Helper()
	var pids []int
	await.True(t, func() bool {
		data, err := os.ReadFile(file)
		for _, word := range strings.Fields(string(data)) {
			pid, _ := strconv.Atoi(word)
			pids = append(pids, pid)
		}
		return err == nil
	})
	require.Len(t, pids, 2)
	return pids
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		await.True(t, func() bool {
			// A zombie whose parent is not us yet to collect it counts as gone.
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		})
	}
}

func TestCancelKillsTheInstallerAndItsChildren(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	p := serve(t, payload.Options{}, hang(file)...)
	r, dir := open(t, p, nil)
	i := installer(t, r, p.ReleaseImage("4.20.33"))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := i.Generate(ctx, release.GenerateInput{InstallConfig: []byte("{}")})
		failed <- err
	}()
	pids := hanging(t, file)
	cancel()
	err := <-failed
	var failure *release.GenerateError
	require.True(t, errors.As(err, &failure))
	require.Equal(t, -1, failure.ExitCode)
	require.ErrorIs(t, err, context.Canceled)
	gone(t, pids)
	left, err := os.ReadDir(filepath.Join(dir, "work"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheInstallerHasATimeLimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	p := serve(t, payload.Options{}, hang(file)...)
	r, _ := open(t, p, func(o *release.Options) { o.RunTimeout = 300 * time.Millisecond })
	_, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: []byte("{}")})
	require.ErrorContains(t, err, "killed: took longer than 300ms")
	gone(t, hanging(t, file))
}

// crowd makes an installer that writes how many of it run, and ends when the file "go" is in the folder.
func crowd(dir string) []string {
	return []string{"/bin/sh", "-c", `cd '` + dir + `' && mkdir run/$$ && ls run | wc -l >> counts
		while [ ! -e go ]; do sleep 0.02; done; rmdir run/$$; exit 1`}
}

func TestInstallersWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(at, "run"), 0o700))
	p := serve(t, payload.Options{}, crowd(at)...)
	r, dir := open(t, p, func(o *release.Options) { o.Runs = 2 })
	i := installer(t, r, p.ReleaseImage("4.20.33"))
	ended := make(chan error)
	generate := func(ctx context.Context) {
		_, err := i.Generate(ctx, release.GenerateInput{InstallConfig: []byte("{}")})
		ended <- err
	}
	for range 2 {
		go generate(t.Context())
	}
	count := func(path string) int {
		entries, err := os.ReadDir(path)
		require.NoError(t, err)
		return len(entries)
	}
	await.True(t, func() bool { return count(filepath.Join(at, "run")) == 2 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go generate(ctx)
	err := <-ended
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "wait for other installers", "two run")
	for range 4 {
		go generate(t.Context())
	}
	require.Equal(t, 2, count(filepath.Join(dir, "work")), "those that wait have no folder")
	require.NoError(t, os.WriteFile(filepath.Join(at, "go"), nil, 0o600))
	for range 6 {
		var failure *release.GenerateError
		require.ErrorAs(t, <-ended, &failure, "each had its turn")
	}
	counts, err := os.ReadFile(filepath.Join(at, "counts"))
	require.NoError(t, err)
	require.Len(t, strings.Fields(string(counts)), 6)
	for _, at := range strings.Fields(string(counts)) {
		require.Contains(t, []string{"1", "2"}, at)
	}
}

func TestOneDownloadServesAllWhoAsk(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	var blobs atomic.Int64
	transport := httpclient.New(t).Transport
	count := func(o *release.Options) {
		o.Transport = transportFunc(func(q *http.Request) (*http.Response, error) {
			if strings.Contains(q.URL.Path, "ocp-v4.0-art-dev/blobs/") {
				blobs.Add(1)
			}
			return transport.RoundTrip(q)
		})
	}
	dir := t.TempDir()
	// Two instances over one folder stand for two processes.
	all := []*release.Releases{openAt(t, p, dir, count), openAt(t, p, dir, count)}
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for n := range cap(errs) {
		wg.Go(func() {
			i, err := all[n%2].Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", PullSecret: pullSecret})
			if err == nil {
				_, err = i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 1, 0), SingleNode: true})
				i.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, blobs.Load(), int64(2), "two layers: the one above the installer and its own")
	require.Len(t, programs(t, dir), 1)
}

func TestCacheEvictsWhatIsUnusedLongest(t *testing.T) {
	t.Parallel()
	versions := []string{"4.18.1", "4.19.1", "4.20.1", "4.20.2"}
	p := serve(t, payload.Options{Versions: versions})
	var now atomic.Int64
	clock := func() time.Time { return time.Unix(1_700_000_000+now.Add(1), 0) }
	first, dir := open(t, p, func(o *release.Options) { o.Now = clock })
	held := installer(t, first, p.ReleaseImage(versions[0]))
	heldName := programs(t, dir)[0]
	installer(t, first, p.ReleaseImage(versions[1])).Close()
	installer(t, first, p.ReleaseImage(versions[2])).Close()
	all := programs(t, dir)
	require.Len(t, all, 3)
	info, err := os.Stat(filepath.Join(dir, "installers", heldName))
	require.NoError(t, err)

	// Room for two: the second goes, being older than the third; the first is held.
	small := openAt(t, p, dir, func(o *release.Options) { o.Now = clock; o.CacheLimit = 3*info.Size() - 1 })
	installer(t, small, p.ReleaseImage(versions[3])).Close()
	left := programs(t, dir)
	require.Len(t, left, 2)
	require.Contains(t, left, heldName)
	_, err = held.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	require.NoError(t, err)
}

func TestInstallersThatAreTooBig(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, dir := open(t, p, func(o *release.Options) { o.InstallerLimit = 10 })
	_, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", PullSecret: pullSecret})
	require.ErrorContains(t, err, "require an installer of at most 10 bytes")
	require.Empty(t, programs(t, dir))
}

func TestWaitingForADownloadCanBeGivenUp(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	asked := make(chan struct{})
	var once sync.Once
	transport := httpclient.New(t).Transport
	r, _ := open(t, p, func(o *release.Options) {
		o.Transport = transportFunc(func(q *http.Request) (*http.Response, error) {
			if strings.Contains(q.URL.Path, "ocp-v4.0-art-dev") {
				once.Do(func() { close(asked) })
				<-q.Context().Done()
				return nil, q.Context().Err()
			}
			return transport.RoundTrip(q)
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err := r.Installer(ctx, release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", PullSecret: pullSecret})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAKilledDownloadLeavesNoHalfProgram(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.Command(self, "stall-in-download", dir, p.ReleaseImage("4.20.33"))
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "stalled\n", line)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.Empty(t, programs(t, dir))
	partial, err := filepath.Glob(filepath.Join(dir, "installers", ".*.partial"))
	require.NoError(t, err)
	require.Len(t, partial, 1, "killed in the middle")

	r := openAt(t, p, dir, nil)
	_, err = installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	require.NoError(t, err)
	require.NoFileExists(t, partial[0])
}

func TestOpenRemovesWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	p := serve(t, payload.Options{}, hang(file)...)
	r, dir := open(t, p, nil)
	secret := filepath.Join(dir, "work", "generate-1", "install-config.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(secret), 0o700))
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))

	i := installer(t, r, p.ReleaseImage("4.20.33"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := i.Generate(ctx, release.GenerateInput{InstallConfig: []byte("{}")})
		ended <- err
	}()
	hanging(t, file)
	openAt(t, p, dir, nil)
	require.FileExists(t, secret, "another process is running")
	forkedchild.Holds(t, filepath.Join(dir, "work.lock"))
	cancel()
	require.Error(t, <-ended)
	openAt(t, p, dir, nil)
	require.NoFileExists(t, secret)
}

func TestInstallersOfReleasesWithoutOne(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	_, err := r.Installer(t.Context(),
		release.Need{Image: p.Address() + "/openshift-release-dev/ocp-release:none", Platform: "none", PullSecret: pullSecret})
	require.ErrorIs(t, err, model.ErrNotFound)
}
