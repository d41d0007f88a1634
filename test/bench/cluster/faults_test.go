package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
	"slipway/test/bench/vm"
)

// fault is something that goes wrong during an installation.
type fault struct {
	name string
	// before changes what machines are before they are switched on.
	before func(*testing.T, *bench)
	// during happens while the installation runs, and fixes itself.
	during func(*testing.T, *bench)
}

// faults are all that can be asked for.
var faults = []fault{
	{name: "rogue", during: rogueRequest},
	{name: "boot-order", before: wrongBootOrder, during: fixBootOrder},
	{name: "old-disk", before: oldDisk},
	{name: "power-cut", during: powerCut},
	{name: "kill-while-writing", during: killWhileWriting},
	{name: "kill-while-waiting", during: killWhileWaiting},
}

func faultNames() (names []string) {
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// wantedFaults lists the faults of the flag. A rogue request is always sent.
func wantedFaults(t *testing.T) []fault {
	t.Helper()
	names := append(strings.FieldsFunc(*faultList, func(r rune) bool { return r == ',' }), "rogue")
	slices.Sort(names)
	var all []fault
	for _, name := range slices.Compact(names) {
		at := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		require.GreaterOrEqual(t, at, 0, "require faults out of %v, found %q", faultNames(), name)
		all = append(all, faults[at])
	}
	return all
}

// injectAll lets all faults happen at their time; the channel is closed when they have.
func (b *bench) injectAll(t *testing.T, all []fault) <-chan struct{} {
	t.Helper()
	var running sync.WaitGroup
	for _, f := range all {
		if f.during != nil {
			running.Go(func() { f.during(t, b) })
		}
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	return done
}

// victim returns the machine that goes wrong: the last master, which is not the bootstrap host where there are others.
func (b *bench) victim() *machine { return b.machines[b.shape.masters-1] }

func wrongBootOrder(_ *testing.T, b *bench) { b.victim().options.Boot = vm.ImageFirst }

// fixBootOrder waits until the service reports the wrong boot order, and sets the right one.
func fixBootOrder(t *testing.T, b *bench) {
	m := b.victim()
	b.timeline.until(t, m.name+" to be seen in the live image again", installationLimit, func(c *wire.Cluster) bool {
		h := hostOf(c, m)
		return h != nil && h.Status == wire.HostStatusInstallingPendingUserAction
	})
	m.off()
	m.options.Boot = vm.DiskFirst
	m.on(t)
	b.timeline.say("boot order of %s corrected", m.name)
}

// oldDisk leaves another system's LVM and RAID on the disk of a machine.
func oldDisk(t *testing.T, b *bench) {
	m := b.victim()
	kernel, initramfs := filepath.Dir(b.system.Kernel), filepath.Join(b.site.dir, "old-disk.img")
	out, err := exec.Command("sh", "../disks/guest/build.sh", initramfs, "old-disk.sh", kernel).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(m.options.Disk, nil, 0o600))
	require.NoError(t, os.Truncate(m.options.Disk, int64(m.options.DiskGiB)<<30))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	guest := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg,tb-size=256", "-M", "pc", "-cpu", "qemu64", "-m", "1024",
		"-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", b.system.Kernel, "-initrd", initramfs,
		"-append", "console=ttyS0 mitigations=off quiet loglevel=3 panic=-1",
		"-drive", "if=none,id=disk,format=raw,cache=unsafe,file="+m.options.Disk, "-device", "virtio-blk-pci,drive=disk")
	guest.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err = guest.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "old disk: made")
	b.timeline.say("old LVM and RAID on the disk of %s", m.name)
}

// powerCut switches a machine off in the middle of the writing of its image. It comes back
// in the live image and is installed after one command.
func powerCut(t *testing.T, b *bench) {
	m := b.victim()
	m.repeats = 1
	b.whileWriting(t, m)
	m.off()
	b.timeline.say("power of %s cut", m.name)
	m.on(t)
	c := b.timeline.until(t, m.name+" to be offered a retry", installationLimit, func(c *wire.Cluster) bool {
		h := hostOf(c, m)
		return h != nil && h.Status == wire.HostStatusError
	})
	command := cli.RetryCommand(serviceURL, c, hostOf(c, m))
	b.timeline.say("$ %s", command)
	words := append([]string{"netns", "exec", b.site.Name, *program}, strings.Fields(command)[1:]...)
	retry := exec.Command("ip", words...)
	retry.Env = append(retry.Environ(), "SLIPWAY_DATA_DIR="+filepath.Join(b.site.dir, "service"))
	out, err := retry.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// whileWriting waits until a part of a machine's image is on its disk.
func (b *bench) whileWriting(t *testing.T, m *machine) {
	t.Helper()
	b.timeline.until(t, m.name+" to write its image", installationLimit, func(c *wire.Cluster) bool {
		h := hostOf(c, m)
		return h != nil && h.Progress.CurrentStage == wire.HostStageWritingImageToDisk && strings.HasSuffix(h.Progress.ProgressInfo, "%") &&
			m.written() > 0
	})
}

// killWhileWriting kills the service in the middle of the writing of an image.
func killWhileWriting(t *testing.T, b *bench) {
	b.whileWriting(t, b.victim())
	b.timeline.say("service killed while %s writes its image", b.victim().name)
	b.service.crash(t)
	b.timeline.say("service is back")
}

// killWhileWaiting kills it while the control plane forms.
func killWhileWaiting(t *testing.T, b *bench) {
	stage := wire.HostStageWaitingForControlPlane
	if b.shape.singleNode() {
		stage = wire.HostStageWaitingForBootkube
	}
	b.timeline.until(t, "the bootstrap host to wait", installationLimit, func(c *wire.Cluster) bool {
		return slices.ContainsFunc(c.Hosts, func(h wire.Host) bool { return h.Bootstrap && h.Progress.CurrentStage == stage })
	})
	time.Sleep(5 * time.Second) // so that it is waited for, not only begun
	b.timeline.say("service killed while the control plane forms")
	b.service.crash(t)
	b.timeline.say("service is back")
}

// rogueRequest asks for a node's certificate as a stranger to the cluster, while the controller approves its hosts' requests.
func rogueRequest(t *testing.T, b *bench) {
	b.timeline.until(t, "the first node", installationLimit, func(c *wire.Cluster) bool {
		return slices.ContainsFunc(c.Hosts, func(h wire.Host) bool {
			return h.Progress.CurrentStage == wire.HostStageJoined || h.Progress.CurrentStage == wire.HostStageDone
		})
	})
	b.askAsRogue(t)
}
