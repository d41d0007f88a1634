package release_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/platform/userids"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/await"
)

// leased returns a pool of users of this process and test alone: whatever runs as one of them is killed.
func leased(dir string, first, number uint32) (*userids.Pool, error) {
	return userids.Open(userids.Range{First: first, Last: first + number - 1}, filepath.Join(dir, "leases"))
}

// firstID returns an id for a test.
func firstID(test uint32) uint32 { return 2_010_000_000 + uint32(os.Getpid()%4_000_000)*32 + test }

// ready waits until a number of runs have made their file, and returns their folders by their users.
func ready(t *testing.T, dir string, number int) map[uint32]string {
	t.Helper()
	runs := map[uint32]string{}
	await.True(t, func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "releases", "work", "generate-*", "assets", "ready"))
		require.NoError(t, err)
		for _, f := range files {
			info, err := os.Stat(f)
			require.NoError(t, err)
			runs[info.Sys().(*syscall.Stat_t).Uid] = filepath.Dir(f)
		}
		return len(files) == number
	}, "the runs do not begin")
	return runs
}

// processesOf lists the processes of a user.
func processesOf(t *testing.T, uid uint32) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil && bytes.Contains(text, fmt.Appendf(nil, "\nUid:\t%d\t", uid)) && !bytes.Contains(text, []byte("\nState:\tZ")) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// Attack: installers of two releases run at once, and each reads the other's install-config and kills it.
func TestRunsAtOnceDoNotReachEachOther(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	for n, mode := range []release.Sandbox{release.SandboxRequired, release.SandboxOff} {
		t.Run("sandbox "+string(mode), func(t *testing.T) {
			t.Parallel()
			dir := reachable(t)
			meeting := filepath.Join(dir, "meeting")
			require.NoError(t, os.Mkdir(meeting, 0o755))
			script := `touch "$4/ready"; while [ ! -e "` + meeting + `/go" ]; do sleep 0.02; done
				while read -r folder pid; do [ "$folder" = "$4" ] && continue
				cat "$folder/install-config.yaml"; ls "$folder"; kill -9 "$pid"; done < "` + meeting + `/go"; exit 7`
			p := serve(t, payload.Options{}, "/bin/sh", "-c", script, "installer")
			pool, err := leased(dir, firstID(uint32(4*n)), 2)
			require.NoError(t, err)
			r := openAt(t, p, filepath.Join(dir, "releases"), func(o *release.Options) {
				o.Users, o.Sandbox, o.Readable, o.Runs = pool, mode, []string{meeting}, 2
			})
			if err := r.CheckSandbox(t.Context()); err != nil {
				t.Skipf("SKIP: this machine makes no sandbox: %s", err)
			}
			i := installer(t, r, p.ReleaseImage("4.20.33"))
			ended := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
					ended <- err
				}()
			}
			runs := ready(t, dir, 2)
			require.Len(t, runs, 2, "each has a user of its own")
			var list strings.Builder
			for uid, folder := range runs {
				for _, pid := range processesOf(t, uid) {
					fmt.Fprintf(&list, "%s %s\n", folder, pid)
				}
			}
			require.GreaterOrEqual(t, strings.Count(list.String(), "\n"), 2)
			require.NoError(t, os.WriteFile(filepath.Join(meeting, "new"), []byte(list.String()), 0o644))
			require.NoError(t, os.Rename(filepath.Join(meeting, "new"), filepath.Join(meeting, "go")))
			for range 2 {
				var failure *release.GenerateError
				require.ErrorAs(t, <-ended, &failure)
				require.Equal(t, 7, failure.ExitCode, "it is not killed")
				require.Regexp(t, "install-config.yaml: (No such file|Permission denied)", failure.Log)
				require.NotContains(t, failure.Log, "pullSecret")
				require.Regexp(t, "No such process|not permitted", failure.Log)
			}
			left, err := os.ReadDir(filepath.Join(dir, "releases", "work"))
			require.NoError(t, err)
			require.Empty(t, left)
			for uid := range runs {
				require.Empty(t, processesOf(t, uid))
			}
		})
	}
}

// stallInRun runs an installer that does not end.
func stallInRun(dir, image, first string) {
	id, err := strconv.ParseUint(first, 10, 32)
	if err != nil {
		panic(err)
	}
	registry, _, _ := strings.Cut(image, "/")
	pool, err := leased(dir, uint32(id), 1)
	if err != nil {
		panic(err)
	}
	r, err := release.Open(filepath.Join(dir, "releases"), release.Options{
		PlainHTTP: []string{registry}, Architecture: "amd64", Now: time.Now, Users: pool, Sandbox: release.SandboxBestEffort,
	})
	if err != nil {
		panic(err)
	}
	i, err := r.Installer(context.Background(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
	if err == nil {
		_, err = i.Generate(context.Background(), release.GenerateInput{InstallConfig: []byte("{}")})
	}
	panic(fmt.Sprint("not stalled: ", err))
}

// Attack: the service is killed with kill -9 in the middle of a run, and the next run has its user.
func TestRunAfterAKilledServiceStartsClean(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	dir := reachable(t)
	script := `[ -e "` + dir + `/second" ] && { echo "user $(id -u)"; exit 7; }; (setsid sleep 1000 &); touch "$4/ready"; sleep 1000`
	p := serve(t, payload.Options{}, "/bin/sh", "-c", script, "installer")
	self, err := os.Executable()
	require.NoError(t, err)
	id := firstID(12)
	child := exec.Command(self, "stall-in-run", dir, p.ReleaseImage("4.20.33"), strconv.Itoa(int(id)))
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	folder := ready(t, dir, 1)[id]
	require.NotEmpty(t, folder)

	pool, err := leased(dir, id, 1)
	require.NoError(t, err)
	r := openAt(t, p, filepath.Join(dir, "releases"), func(o *release.Options) { o.Users = pool })
	i := installer(t, r, p.ReleaseImage("4.20.33"))
	require.NotEmpty(t, processesOf(t, id), "it runs while another process opens the folder")
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.DirExists(t, folder, "what a killed service leaves")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "second"), nil, 0o644))
	_, err = i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	var failure *release.GenerateError
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Log, fmt.Sprintf("user %d", id))
	require.NoDirExists(t, folder)
	require.Empty(t, processesOf(t, id))
}
