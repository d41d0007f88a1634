package evaluation

import (
	"context"
	"time"
)

const (
	// sweepShare is how many sweeps there are in the time a host may be silent.
	sweepShare = 20
	// logsShare is how many looks for overdue logs there are in the shortest time they may take.
	logsShare = 4
)

// sweepUntil looks for changes that only the clock shows, hosts that fell silent and logs that do not come, and marks the clusters
// concerned, until ctx ends.
func (e *Evaluator) sweepUntil(ctx context.Context) {
	ticker := time.NewTicker(max(min(e.timeouts.Disconnect/sweepShare, e.options.SweepEvery), time.Millisecond))
	defer ticker.Stop()
	logs := time.NewTicker(max(min(e.timeouts.HostLogPending, e.timeouts.LogPending)/logsShare, time.Millisecond))
	defer logs.Stop()
	limits := []*silence{{limit: e.timeouts.Disconnect}, {limit: e.timeouts.Disconnect + e.timeouts.BootstrapGrace}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-logs.C:
			if err := e.store.MarkAwaitedLogs(ctx); err != nil && ctx.Err() == nil {
				e.log.Warn("sweep for overdue logs failed", "error", err)
			}
			continue
		case <-ticker.C:
		}
		for _, l := range limits {
			if err := e.sweep(ctx, l); err != nil && ctx.Err() == nil {
				e.log.Warn("sweep for silent hosts failed", "error", err)
			}
		}
	}
}

// silence is one limit, and up to when hosts were looked at.
type silence struct {
	limit time.Duration
	swept time.Time
}

// sweep marks the hosts that crossed a limit since the last sweep. The first one waits
// for the limit to pass since the process began to listen, and takes all.
func (e *Evaluator) sweep(ctx context.Context, l *silence) error {
	since := e.now().Add(-l.limit)
	if since.Before(e.started) {
		return nil
	}
	if err := e.store.MarkSilentHosts(ctx, since, l.swept); err != nil {
		return err
	}
	l.swept = since
	return nil
}
