package service

import (
	"context"
	"time"
)

const (
	// textsEvery is how long rows that were written without a text are read from their rows, as by a service of an earlier version.
	textsEvery  = 10 * time.Minute
	textsAtOnce = 50
)

// keepTexts renders hosts and clusters for lists where that was not done when they were written.
func (s *Service) keepTexts(ctx context.Context) {
	ticker := time.NewTicker(textsEvery)
	defer ticker.Stop()
	for {
		more, err := s.store.KeepTexts(ctx, textsAtOnce)
		if err != nil && ctx.Err() == nil {
			s.logger.Warn("lists read whole rows", "error", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
