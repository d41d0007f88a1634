package steps_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/wire"
)

// disk makes a loop device of 64 MiB in memory, full of ones.
func (h *host) disk(t *testing.T) string {
	t.Helper()
	memory, err := unix.MemfdCreate("disk", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	content := os.NewFile(uintptr(memory), "disk")
	t.Cleanup(func() { _ = content.Close() })
	_, err = content.WriteString(strings.Repeat("\x01", 64<<20))
	require.NoError(t, err)
	image := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), memory)
	out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		t.Skipf("SKIP: no loop device: %s", out)
	}
	device := strings.TrimSpace(string(out))
	held, err := os.Open(device)
	require.NoError(t, err)
	// It is gone when no process holds it any more, even if this process is killed.
	require.NoError(t, exec.Command("losetup", "--detach", device).Run())
	t.Cleanup(func() { _ = held.Close() })
	return device
}

func TestDiskSpeedIsMeasuredOnADevice(t *testing.T) {
	t.Parallel()
	h := newHost(t, "speed", "losetup")
	device := h.disk(t)
	// A name as in /dev/disk/by-path.
	path := filepath.Join(h.dir, "pci-0000:00:05.0")
	require.NoError(t, os.Symlink(device, path))
	h.start(t)
	found := answer[wire.DiskSpeedCheckResponse](
		t,
		h,
		wire.StepTypeInstallationDiskSpeedCheck,
		argument(t, wire.DiskSpeedCheckRequest{Path: path}),
		"480.00",
	)
	require.Equal(t, path, found.Path)
	require.GreaterOrEqual(t, found.IoSyncDuration, 0)
	content, err := os.ReadFile(device)
	require.NoError(t, err)
	require.NotEqual(t, byte(1), content[0], "it was written to")
	require.Equal(t, byte(1), content[23<<20], "but not beyond 22 MiB")

	reply := h.ask(t, wire.StepTypeInstallationDiskSpeedCheck, argument(t, wire.DiskSpeedCheckRequest{Path: path}), "0.001")
	require.Equal(t, 124, reply.ExitCode, reply.Error)
	missing := filepath.Join(h.dir, "sdx")
	reply = h.ask(t, wire.StepTypeInstallationDiskSpeedCheck, argument(t, wire.DiskSpeedCheckRequest{Path: missing}), "480.00")
	require.Equal(t, -1, reply.ExitCode)
	require.NoFileExists(t, missing)
	require.Empty(t, h.processes(t))
}
