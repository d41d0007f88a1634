package process

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsBoundedWithRoomForWhatIsInUse(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, softMemory, memoryLimit(0))
	require.EqualValues(t, softMemory, memoryLimit(100<<20))
	require.EqualValues(t, 600<<20, memoryLimit(400<<20))
}

// The limit that Go keeps covers stacks and its own tables too: a limit that knows only objects lies below what many
// goroutines hold, and each collection is followed by the next.
func TestMemoryInUseCountsStacks(t *testing.T) {
	const goroutines = 20_000
	before := heldMemory()
	end := make(chan struct{})
	var begun, ended sync.WaitGroup
	for range goroutines {
		begun.Add(1)
		ended.Go(func() {
			deep(begun.Done, end)
		})
	}
	begun.Wait()
	runtime.GC()
	grown := heldMemory() - before
	close(end)
	ended.Wait()
	require.Greater(t, grown, uint64(goroutines*4<<10), "each has a stack of more than 4 KiB")
	require.Less(t, grown, uint64(goroutines*64<<10))
	debug.FreeOSMemory()
}

// deep waits with 4 KiB on its stack.
func deep(begun func(), end <-chan struct{}) byte {
	var page [4 << 10]byte
	page[len(page)-1] = 1
	begun()
	<-end
	runtime.KeepAlive(&page)
	return page[len(page)-1]
}
