package idlememory_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/idlememory"
	"slipway/internal/testing/await"
)

func TestPagesOfTheProgramAreGivenBackAndComeBack(t *testing.T) {
	t.Parallel()
	program, err := idlememory.Self()
	require.NoError(t, err)
	require.NotEmpty(t, program)
	require.NotEmpty(t, fmt.Sprint(strings.Fields("a b"), time.Now()), "code and data are read")
	before := residentFilePages(t)
	require.NoError(t, program.GiveBack())
	require.Less(t, residentFilePages(t), before)
	require.Equal(t, "[a b]", fmt.Sprint(strings.Fields("a b")), "the program still runs")
}

func TestKeepingLeanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	idlememory.Keep(ctx, idlememory.Pace{Pages: time.Millisecond}, slog.New(slog.DiscardHandler))
	require.Error(t, ctx.Err(), "not before")
}

func TestWhatBusyTimesLeftIsGivenBack(t *testing.T) {
	t.Parallel()
	helper := exec.Command(os.Args[0], "-test.run=^TestHelperWasBusy$", "-test.v")
	helper.Env = append(os.Environ(), "HELPER_BUSY=1")
	out, err := helper.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "memory given back")
}

// TestHelperWasBusy measures in a process where no other test takes memory.
func TestHelperWasBusy(t *testing.T) {
	if os.Getenv("HELPER_BUSY") == "" {
		t.Skip("only as a process of another test")
	}
	const much = 64 << 20
	garbage := make([]byte, much)
	for i := range garbage {
		garbage[i] = 1
	}
	require.Greater(t, heapInMemory(), uint64(much))
	go idlememory.Keep(t.Context(), idlememory.Pace{Pages: 50 * time.Millisecond}, slog.New(slog.DiscardHandler))
	await.True(t, func() bool { return heapInMemory() < much/2 })
	t.Log("memory given back")
}

// heapInMemory returns the size of the heap without what was given back.
func heapInMemory() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapSys - stats.HeapReleased
}

// residentFilePages reads the number that proc_pid_statm(5) calls shared: pages of files.
func residentFilePages(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	shared, err := strconv.Atoi(strings.Fields(string(statm))[2])
	require.NoError(t, err)
	return shared
}

// A position-independent program: to its second mapping the loader has written, and what it
// wrote to the third is swapped out.
const smaps = `
55d0c0000000-55d0c0100000 r-xp 00000000 fe:00 42                         /usr/bin/my slipway
Size:               1024 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
55d0c0100000-55d0c0200000 r--p 00100000 fe:00 42                         /usr/bin/my slipway
Size:               1024 kB
Private_Dirty:       516 kB
Anonymous:           516 kB
VmFlags: rd mr mw me ac
55d0c0300000-55d0c0400000 r--p 00300000 fe:00 42                         /usr/bin/my slipway
Anonymous:             0 kB
Swap:                516 kB
VmFlags: rd mr mw me ac
55d0c0200000-55d0c0300000 rw-p 00200000 fe:00 42                         /usr/bin/my slipway
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 43                         /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000200000-7f0000300000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`

func TestOnlyPagesOfTheFileAreFound(t *testing.T) {
	t.Parallel()
	found, err := idlememory.Read(strings.NewReader(smaps), "/usr/bin/my slipway")
	require.NoError(t, err)
	require.Equal(t, idlememory.Program{{From: 0x55d0c0000000, To: 0x55d0c0100000}}, found)
}

func TestMappingsThatCannotBeReadAreTold(t *testing.T) {
	t.Parallel()
	_, err := idlememory.Read(strings.NewReader("from-to r-xp 00000000 fe:00 42 /usr/bin/slipway\n"), "/usr/bin/slipway")
	require.ErrorContains(t, err, "from-to")
}
