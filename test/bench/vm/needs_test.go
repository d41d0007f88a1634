package vm_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/coreos"
	"slipway/test/bench/vm"
)

// program returns the program of `make build`; SLIPWAY_BINARY names another build.
func program(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(os.Getenv("SLIPWAY_BINARY"), "../../../bin/slipway"))
	require.NoError(t, err)
	return path
}

// needs skips a test where something is missing that machines are run with, and returns
// the bench's system.
func needs(t *testing.T) coreos.Artifacts {
	t.Helper()
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		t.Skip("SKIP: machines need QEMU (deploy/bench-packages)")
	}
	if _, err := os.Stat(vm.FirmwareCode); err != nil {
		t.Skip("SKIP: machines with UEFI need its firmware (deploy/bench-packages)")
	}
	for _, file := range []string{program(t), agents(t)} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("SKIP: this test needs %s (make build)", file)
		}
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
		t.Skip("SKIP: this test needs PostgreSQL (deploy/debian-packages)")
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	system, err := coreos.Find(coreos.Dir(cache))
	if err != nil {
		t.Skip("SKIP: the bench's system is not built, or its scripts have changed since (make bench-image-vm)")
	}
	return system
}

// agents returns the folder with the agent that hosts load.
func agents(t *testing.T) string {
	t.Helper()
	return filepath.Dir(program(t))
}
