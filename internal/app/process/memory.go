package process

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// softMemory is when the garbage collector begins to hurry, in bytes of what Go
	// manages. A service with a thousand hosts needs half of it; without a limit, one
	// evaluation of a large cluster would leave as much again to the process for minutes.
	softMemory = 192 << 20
	// memoryRoom is how much more than what is in use there must be: below that the
	// collector would do little else.
	memoryRoom = 1.5
	// memoryLook is how often that is looked at.
	memoryLook = 2 * time.Second
)

// LimitMemory bounds the memory of the process softly until ctx ends. Where GOMEMLIMIT
// is set (see package runtime), that is the limit.
func (p *Process) LimitMemory(ctx context.Context) {
	if _, set := p.Env.LookupEnv("GOMEMLIMIT"); set {
		return
	}
	ticker := time.NewTicker(memoryLook)
	defer ticker.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for {
		metrics.Read(live)
		debug.SetMemoryLimit(memoryLimit(live[0].Value.Uint64()))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// memoryLimit leaves room around what is in use, both in bytes.
func memoryLimit(live uint64) int64 {
	return max(softMemory, int64(min(float64(live)*memoryRoom, math.MaxInt64/2)))
}
