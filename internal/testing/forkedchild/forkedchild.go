// Package forkedchild does in tests what a child does that has forked and not yet executed its program: it holds copies
// of the descriptors of its parent, and with them the locks on their files, see flock(2).
package forkedchild

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Holds copies each descriptor of this process that is open at path until the test ends; one is required.
func Holds(t testing.TB, path string) {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var copies []int
	for _, descriptor := range open {
		if to, err := os.Readlink("/proc/self/fd/" + descriptor.Name()); err != nil || to != path {
			continue
		}
		number, err := strconv.Atoi(descriptor.Name())
		require.NoError(t, err)
		held, err := syscall.Dup(number)
		require.NoError(t, err)
		copies = append(copies, held)
	}
	require.NotEmpty(t, copies, "%s is open", path)
	t.Cleanup(func() {
		for _, held := range copies {
			_ = syscall.Close(held)
		}
	})
}
