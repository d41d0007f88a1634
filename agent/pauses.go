package agent

import (
	"time"

	"github.com/cenkalti/backoff/v5"

	"slipway/internal/client"
)

// pauses are the times between attempts, growing and jittered: short ones while the service
// is away or busy, so that it finds its hosts soon after it is back; long ones when it
// refuses, because somebody has to act first.
type pauses struct {
	away    *backoff.ExponentialBackOff
	refused *backoff.ExponentialBackOff
}

func newPauses() *pauses {
	return &pauses{
		away: &backoff.ExponentialBackOff{
			InitialInterval: 500 * time.Millisecond, Multiplier: 1.7, RandomizationFactor: 0.5, MaxInterval: 10 * time.Second,
		},
		refused: &backoff.ExponentialBackOff{
			InitialInterval: 2 * time.Second, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: 5 * time.Minute,
		},
	}
}

// next returns how long to wait after err, at least as long as the service asked for.
func (p *pauses) next(err error) time.Duration {
	kind := p.refused
	if err == nil || client.Passing(err) {
		kind = p.away
	}
	return max(kind.NextBackOff(), min(client.RetryAfter(err), kind.MaxInterval))
}

// reset begins anew after a success.
func (p *pauses) reset() {
	p.away.Reset()
	p.refused.Reset()
}
