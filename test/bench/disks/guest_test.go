package disks_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/coreos"
)

// guestMark is a file that only the machine of guest/init.sh has.
const guestMark = "/run/bench-guest"

// disksOfGuest are the sizes of /dev/vda and on, in bytes; the last is too small for an image.
var disksOfGuest = []int64{1 << 30, 1 << 30, 1 << 30, 96 << 20}

// inGuest skips a test that must not run on the machine of a person.
func inGuest(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(guestMark); err != nil {
		t.Skip("runs in the machine that TestDisksOfARealMachine starts")
	}
}

// TestDisksOfARealMachine runs the other tests of this package in a machine. The variable
// RUN chooses some of them.
func TestDisksOfARealMachine(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(guestMark); err == nil {
		t.Skip("this is the machine")
	}
	system, image := needs(t), filepath.Join(t.TempDir(), "initrd")
	self, err := os.Executable()
	require.NoError(t, err)
	programs := []string{self}
	if system.installer != "" {
		programs = append(programs, system.installer)
	}
	build := exec.CommandContext(
		t.Context(),
		"sh",
		append([]string{"guest/build.sh", image, "guest/init.sh", system.kernel}, programs...)...)
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)

	results := runGuest(t, system, image)
	require.NotEmpty(t, results, "no test ran")
	for _, r := range results {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			switch r.result {
			case "SKIP":
				t.Skip(r.output)
			case "FAIL":
				t.Error(r.output)
			}
		})
	}
}

type result struct{ result, name, output string }

// runGuest starts the machine and reads what `go test -v` writes on its serial line.
func runGuest(t *testing.T, system needed, image string) []result {
	t.Helper()
	args := []string{
		"-accel", "tcg,tb-size=256", "-M", "pc", "-cpu", "qemu64", "-smp", "1", "-m", "2048",
		"-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-kernel", filepath.Join(system.kernel, "vmlinuz"), "-initrd", image,
		"-append", "console=ttyS0 mitigations=off quiet loglevel=3 panic=-1 bench.run=^TestGuest" + os.Getenv("RUN"),
	}
	for n, size := range disksOfGuest {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("disk%d", n))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size))
		args = append(args,
			"-drive", fmt.Sprintf("if=none,id=d%d,format=raw,cache=unsafe,discard=unmap,file=%s", n, path),
			"-device", fmt.Sprintf("virtio-blk-pci,drive=d%d,serial=disk%d", n, n))
	}
	args = append(args, watchedDisks(t)...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	machine := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	machine.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	serial, err := machine.StdoutPipe()
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "serial.log")
	kept, err := os.Create(log)
	require.NoError(t, err)
	machine.Stderr = kept
	require.NoError(t, machine.Start())
	results, ended := readResults(bufio.NewScanner(io.TeeReader(serial, kept)))
	_ = machine.Wait() // it switches itself off
	require.NoError(t, kept.Close())
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "the machine took longer than %s:\n%s", patience, said)
	require.True(t, ended, "the tests of the machine did not end:\n%s", said)
	return results
}

// readResults turns the output of a test program into its results.
func readResults(lines *bufio.Scanner) (results []result, ended bool) {
	output, running := map[string]string{}, ""
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "bench: ended"):
			ended = true
			if len(results) == 0 {
				results = append(results, result{"FAIL", "the program", output[""]})
			}
		case len(fields) >= 3 && fields[0] == "===":
			running = fields[2]
		case len(fields) >= 3 && fields[0] == "---":
			results = append(results, result{strings.TrimSuffix(fields[1], ":"), fields[2], output[fields[2]]})
		default:
			output[running] += line + "\n"
		}
	}
	return results, ended
}

type needed struct{ kernel, installer string }

// needs skips the test where something is missing that the machine is made of.
func needs(t *testing.T) needed {
	t.Helper()
	for _, tool := range []string{"qemu-system-x86_64", "cpio", "busybox", "lvm", "mdadm", "dmsetup", "sgdisk", "mkfs.ext4", "udevadm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: a machine with disks needs %s (deploy/bench-packages disks)", tool)
		}
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	system, err := coreos.Find(coreos.Dir(cache))
	if err != nil {
		t.Skip("SKIP: the bench's system is not built, or its scripts have changed since (make bench-image-vm)")
	}
	return needed{kernel: filepath.Dir(system.Kernel), installer: system.Installer}
}
