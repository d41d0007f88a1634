package service

import (
	"context"
	"time"

	"slipway/internal/platform/programsig"
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

// programPurpose names the keys that sign programs of the agent.
const programPurpose = "programs of the agent"

// programSigner signs the programs that agents become, with keys derived from all keys of the secrets: a rotation replaces the key of
// new images, and agents of older images are served until their key is removed.
func (s *Service) programSigner() programsig.Signer {
	return programsig.Signer{Seeds: func() [][]byte { return s.sealer.DeriveAll(programPurpose) }}
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
