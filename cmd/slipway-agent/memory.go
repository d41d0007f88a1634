package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"slipway/internal/platform/idlememory"
)

const (
	// collectAt is how much the heap may grow before it is collected, in percent: what lives
	// is little, and a live image shares its memory with all that it installs.
	collectAt = 50
	// leanEvery is how often memory is given back. Between two of them a waiting agent
	// has polled once at most.
	leanEvery = 15 * time.Second
)

// saveMemory keeps the agent small while it waits, until ctx ends.
func saveMemory(ctx context.Context, log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	go idlememory.Keep(ctx, idlememory.Pace{Pages: leanEvery}, log)
}
