package steps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// disk makes a loop device of 64 MiB, full of ones.
func (h *host) disk(t *testing.T) string {
	t.Helper()
	image := filepath.Join(h.dir, "disk.img")
	require.NoError(t, os.WriteFile(image, []byte(strings.Repeat("\x01", 64<<20)), 0o600))
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
	for name, without := range map[string][]string{"speed": nil, "speed-nofio": {"fio"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, name, "losetup", "fio")
			for _, command := range without {
				h.command(t, command, "exit 127\n")
			}
			device := h.disk(t)
			// A name as those in /dev/disk/by-path are: fio separates files by colons.
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
		})
	}
}
