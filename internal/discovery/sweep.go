package discovery

import (
	"context"
	"time"
)

const (
	// sweepShare is how many sweeps there are in the time a host may be silent; sweepEvery
	// is the longest pause between two.
	sweepShare = 20
	sweepEvery = 5 * time.Second
)

// sweepUntil looks for hosts that fell silent and marks what they belong to, until ctx ends.
func (s *Service) sweepUntil(ctx context.Context) {
	ticker := time.NewTicker(max(min(s.timeouts.Disconnect/sweepShare, sweepEvery), time.Millisecond))
	defer ticker.Stop()
	limits := []*silence{{limit: s.timeouts.Disconnect}, {limit: s.timeouts.Disconnect + s.timeouts.BootstrapGrace}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, l := range limits {
			if err := s.sweep(ctx, l); err != nil && ctx.Err() == nil {
				s.log.Warn("sweep for silent hosts failed", "error", err)
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
func (s *Service) sweep(ctx context.Context, l *silence) error {
	since := s.now().Add(-l.limit)
	if since.Before(s.started) {
		return nil
	}
	if err := s.store.MarkSilentHosts(ctx, since, l.swept); err != nil {
		return err
	}
	l.swept = since
	return nil
}
