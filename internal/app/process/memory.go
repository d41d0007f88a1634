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

// held is all that the collector cannot give back and that runtime/debug.SetMemoryLimit counts (runtime/metrics has the
// names): objects that live, the space between objects, stacks, and what the runtime needs for itself. With the objects
// alone as measure, the limit of a process with thousands of goroutines was below what it held: it collected garbage for
// half of its processor time.
var held = []string{
	"/gc/heap/live:bytes",
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/metadata/mcache/free:bytes",
	"/memory/classes/metadata/mcache/inuse:bytes",
	"/memory/classes/metadata/mspan/free:bytes",
	"/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/other:bytes",
	"/memory/classes/profiling/buckets:bytes",
}

// LimitMemory bounds the memory of the process softly until ctx ends. Where GOMEMLIMIT
// is set (see package runtime), that is the limit.
func (p *Process) LimitMemory(ctx context.Context) {
	if _, set := p.Env.LookupEnv("GOMEMLIMIT"); set {
		return
	}
	ticker := time.NewTicker(memoryLook)
	defer ticker.Stop()
	for {
		debug.SetMemoryLimit(memoryLimit(heldMemory()))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// heldMemory returns how much is in use, in bytes.
func heldMemory() (sum uint64) {
	samples := make([]metrics.Sample, len(held))
	for i, name := range held {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for _, sample := range samples {
		sum += sample.Value.Uint64()
	}
	return sum
}

// memoryLimit leaves room around what is in use, both in bytes.
func memoryLimit(held uint64) int64 {
	return max(softMemory, int64(min(float64(held)*memoryRoom, math.MaxInt64/2)))
}
