package installer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
)

// loopDevice makes a disk of a file; the test is skipped where that is not possible.
func loopDevice(t *testing.T) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, 16<<20))
	output, err := exec.Command("losetup", "--find", "--show", "--partscan", image).Output()
	if err != nil {
		t.Skipf("no loop devices here: %s", err)
	}
	device := strings.TrimSpace(string(output))
	t.Cleanup(func() { require.NoError(t, exec.Command("losetup", "--detach", device).Run()) })
	return device
}

func TestCleanDiskOnARealDevice(t *testing.T) {
	t.Parallel()
	device := loopDevice(t)
	swap := exec.Command("mkswap", device)
	if output, err := swap.CombinedOutput(); err != nil {
		t.Skipf("no mkswap here: %s", output)
	}
	signatures := func() string {
		output, err := exec.Command("wipefs", device).Output()
		require.NoError(t, err)
		return string(output)
	}
	require.Contains(t, signatures(), "swap")

	req := request("master", 3)
	req.BootDevice = device
	i := newInstaller(newService(t), newHost(t, nil), nil, func(o *installer.Options) { o.Root, o.Runner = "/", hostexec.Exec{} })
	report, err := i.CleanDisk(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, report.Cleaned, "signatures of "+device)
	require.Empty(t, signatures())
}
