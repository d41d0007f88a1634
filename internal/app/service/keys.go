package service

import (
	"context"
	"time"

	"slipway/internal/service/rotation"
)

// readKeys reads the key file again and again: keys that were added encrypt from then on.
func (s *Service) readKeys(ctx context.Context) {
	ticker := time.NewTicker(rotation.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch changed, err := s.sealer.Reload(); {
		case err != nil:
			s.logger.Warn("the keys stay as they were", "error", err)
		case changed:
			s.logger.Info("read the keys again", "keys", len(s.sealer.Held()), "key", s.sealer.Held()[0].ID())
		}
	}
}

// temporalKeys is the part of Temporal that depends on keys.
type temporalKeys struct{ *Service }

// UseKey gives schedules inputs that the current key has sealed.
func (t temporalKeys) UseKey(ctx context.Context) error {
	return t.orchestrator.KeepHouse(ctx, t.housekeeping())
}

// StartedBefore counts workflows.
func (t temporalKeys) StartedBefore(ctx context.Context, at time.Time) (int64, error) {
	return t.orchestrator.StartedBefore(ctx, at)
}
