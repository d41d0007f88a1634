package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/built"
)

var (
	restored = flag.Int("restored", 2, "single nodes that are installed while TestARestoredServiceFindsItsHostsFurther loses its service")
	silence  = flag.Duration("silence", 0, "lets the hosts of TestARestoredServiceFindsItsHostsFurther fail that rebooted since the backup: "+
		"how long they may be silent; 0: controllers report them at once")
)

// The machine of a service is lost while clusters are installed. A backup is restored on an empty one: it is of the moment in which disks
// were written, and hosts have rebooted since. All clusters are installed, and no disk is written twice.
func TestARestoredServiceFindsItsHostsFurther(t *testing.T) {
	t.Parallel()
	var env []string
	if *silence > 0 {
		env = []string{"HOST_MAX_DISCONNECTION_TIME=" + silence.String()}
	}
	f := newFleet(t, env...)
	shapes := map[*fleet]shape{f: {masters: 3, workers: 2, speed: 40}}
	for n := range *restored {
		shapes[f.beside(t, fmt.Sprintf("single-%d", n))] = shape{masters: 1, speed: float64(20 + 5*(n%8))}
	}
	for c, s := range shapes {
		c.define(t, s)
	}
	for c, s := range shapes {
		c.discover(t, s)
	}
	for c := range shapes {
		if c != f {
			c.install(t)
		}
	}
	for c := range shapes {
		if c != f {
			c.await(t, "its installation to run", func(c *wire.Cluster) bool {
				return slices.Contains([]wire.ClusterStatus{"installing", "finalizing", "installed"}, c.Status)
			})
		}
	}
	f.install(t) // the others are in its midst by then
	f.await(t, "writing", stageOf("master-1", wire.HostStageWritingImageToDisk))

	passphrase, folder := filepath.Join(f.dir, "passphrase"), filepath.Join(f.dir, "backups")
	require.NoError(t, os.WriteFile(passphrase, []byte("correct horse battery\n"), 0o600))
	opened := []string{"--data-dir", f.dataDir, "--backup-passphrase-file", passphrase}
	f.admin(t, append([]string{"backup", "--backup-to", folder}, opened...)...)
	backups, err := filepath.Glob(filepath.Join(folder, "*.age"))
	require.NoError(t, err)
	require.Len(t, backups, 1)

	on := []string{"master-1", "master-2"} // the bootstrap host reports for them
	if *silence > 0 {
		on = append(on, "master-0", "worker-0", "worker-1")
	}
	f.await(t, "hosts that have rebooted", func(c *wire.Cluster) bool {
		return !slices.ContainsFunc(on, func(name string) bool { return !rebooted(c, name) })
	})
	release := f.service.hold(t, syscall.SIGKILL)
	require.NoError(t, os.RemoveAll(f.dataDir))
	f.admin(t, append([]string{"restore", backups[0]}, opened...)...)
	report := func() {}
	if *silence > 0 {
		report = f.controller.stopped(t)
	}
	release()
	built.WaitReady(t, f.url)
	if *silence > 0 {
		f.await(t, "hosts that fail", func(c *wire.Cluster) bool {
			return slices.ContainsFunc(c.Hosts, func(h wire.Host) bool { return h.RequestedHostname == "master-1" && h.Status == "error" })
		})
	}
	report()

	for c := range shapes {
		c.awaitStatus(t, wire.ClusterStatusInstalled)
		c.writtenOnce(t)
	}
}

// rebooted reports whether the service knows that a host runs from its disk.
func rebooted(c *wire.Cluster, name string) bool {
	return slices.ContainsFunc(c.Hosts, func(h wire.Host) bool {
		return h.RequestedHostname == name &&
			slices.Contains([]wire.HostStage{"Configuring", "Joined", "Done"}, h.Progress.CurrentStage)
	})
}

// stopped stops the process until goOn is called.
func (p *part) stopped(t *testing.T) (goOn func()) {
	t.Helper()
	require.True(t, p.signal(syscall.SIGSTOP), p.name)
	goOn = func() { p.signal(syscall.SIGCONT) }
	t.Cleanup(goOn)
	return goOn
}

// admin runs a command of the program as the service's user, in the environment of the service.
func (f *fleet) admin(t *testing.T, args ...string) {
	t.Helper()
	out, err := f.tryAdmin(t, args...)
	require.NoError(t, err, "%q\n%s", args, out)
	t.Logf("%s", out)
}

func (f *fleet) tryAdmin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), f.program, args...)
	cmd.WaitDelay = time.Minute
	f.service.mu.Lock()
	cmd.Env = append(os.Environ(), f.service.env...)
	f.service.mu.Unlock()
	out, err := cmd.CombinedOutput()
	return string(out), err
}
