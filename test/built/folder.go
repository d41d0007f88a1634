package built

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	memory     = "/dev/shm"
	memoryFree = 6 << 30 // bytes: several services at once, 300 to 600 MB each
)

// Folder makes a folder for a service under test, and removes it when the test passes. It lies in memory where there is
// room, because a disk that others use too lets a commit of the database wait for seconds; the tests kill processes,
// never the machine. It is not t.TempDir, whose path is too long for the database's socket and closed to its user.
func Folder(t *testing.T, name string) string {
	t.Helper()
	parent := ""
	var at syscall.Statfs_t
	if err := syscall.Statfs(memory, &at); err == nil && at.Bavail*uint64(at.Bsize) > memoryFree { //nolint:gosec // a size
		parent = memory
	}
	dir, err := os.MkdirTemp(parent, "slipway-"+name+"-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711)) //nolint:gosec // the database's own user passes through
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("everything is kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}
