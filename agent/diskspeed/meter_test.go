package diskspeed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/agent/diskspeed"
	"slipway/internal/platform/hostexec"
)

// clock moves on by a step each time it is read.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

const mebibyte = 1 << 20

// disk makes a disk of 24 MiB, full of ones, of a machine. It is in memory: the test is about the
// bytes written, not the speed.
func disk(t *testing.T) (diskspeed.Meter, *clock) {
	t.Helper()
	root := hostexec.Root(t.TempDir())
	require.NoError(t, os.MkdirAll(root.Path("/dev"), 0o755))
	memory, err := unix.MemfdCreate("sda", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	file := os.NewFile(uintptr(memory), "sda")
	t.Cleanup(func() { _ = file.Close() })
	_, err = file.Write(bytes.Repeat([]byte{1}, 24*mebibyte))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), memory), root.Path("/dev/sda")))
	c := &clock{step: 5 * time.Millisecond}
	return diskspeed.Meter{Root: root, Now: c.read}, c
}

func TestSyncLatencyWritesTheBeginningOfTheDisk(t *testing.T) {
	t.Parallel()
	m, _ := disk(t)
	latency, err := m.SyncLatency(t.Context(), "/dev/sda")
	require.NoError(t, err)
	require.GreaterOrEqual(t, latency, 5*time.Millisecond)
	content, err := os.ReadFile(m.Root.Path("/dev/sda"))
	require.NoError(t, err)
	require.Len(t, content, 24*mebibyte)
	for offset := 0; offset < 22*mebibyte; offset += 4096 {
		require.NotEqual(t, byte(1), content[offset], "byte %d is overwritten", offset)
	}
	require.Equal(t, bytes.Repeat([]byte{1}, 2*mebibyte), content[22*mebibyte:], "nothing beyond 22 MiB")
	require.NotEqual(t, []byte{0x55, 0xAA}, content[510:512], "no boot sector")
	require.NotEqual(t, make([]byte, 4096), content[:4096], "no zeros, which storage may leave out")
}

func TestSyncLatencyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m, _ := disk(t)
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	_, err := m.SyncLatency(ctx, "/dev/sda")
	require.ErrorIs(t, err, late)
}

func TestSyncLatencyMakesNoFileOfADiskThatIsAbsent(t *testing.T) {
	t.Parallel()
	m, _ := disk(t)
	_, err := m.SyncLatency(t.Context(), "/dev/sdz")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, m.Root.Path("/dev/sdz"))
}

func TestSyncLatencyRefusesADeviceThatIsMounted(t *testing.T) {
	t.Parallel()
	m, _ := disk(t)
	require.NoError(t, os.MkdirAll(m.Root.Path("/proc/1"), 0o755))
	require.NoError(t, os.WriteFile(
		m.Root.Path("/proc/1/mounts"), []byte("proc /proc proc rw 0 0\n/dev/by-name /var/data xfs rw 0 0\n"), 0o644,
	))
	require.NoError(t, os.Symlink("sda", filepath.Join(string(m.Root), "dev/by-name")))
	_, err := m.SyncLatency(t.Context(), "/dev/sda")
	require.ErrorContains(t, err, "/dev/sda is mounted on /var/data")
	content, err := os.ReadFile(m.Root.Path("/dev/sda"))
	require.NoError(t, err)
	require.Equal(t, byte(1), content[0], "nothing is written")
}
