package service

import (
	"context"
	"time"
)

const (
	// textsEvery is how long hosts that were written without a text are read from their rows, as by a service of an earlier version.
	textsEvery  = 10 * time.Minute
	textsAtOnce = 50
)

// keepTexts renders hosts for lists where that was not done when they were written.
func (s *Service) keepTexts(ctx context.Context) {
	ticker := time.NewTicker(textsEvery)
	defer ticker.Stop()
	for {
		kept, err := s.store.KeepTexts(ctx, textsAtOnce)
		if err != nil && ctx.Err() == nil {
			s.logger.Warn("lists read whole hosts", "error", err)
		}
		if kept == textsAtOnce {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
