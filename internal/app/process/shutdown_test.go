package process

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShutdownEndsTheLastFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShutdown(slog.New(slog.DiscardHandler))
		var order []string
		for _, part := range []string{"database", "engine", "API"} {
			s.Add(part, time.Second, func(context.Context) error { order = append(order, part); return nil })
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, s.Run(cancelled))
		require.Equal(t, []string{"API", "engine", "database"}, order)
	})
}

func TestShutdownGivesUpOnAPartThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShutdown(slog.New(slog.DiscardHandler))
		ended := false
		s.Add("database", time.Second, func(context.Context) error { ended = true; return nil })
		hung := make(chan struct{})
		s.Add("worker", time.Millisecond, func(context.Context) error { <-hung; return nil })
		err := s.Run(t.Context())
		close(hung)
		require.EqualError(t, err, "stop worker: context deadline exceeded")
		require.True(t, ended, "the ones after it have their turn")
	})
}

func TestShutdownEndsInDrainTimeWhateverHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShutdown(slog.New(slog.DiscardHandler))
		hung := make(chan struct{})
		const parts = 5
		for range parts {
			s.Add("part", DrainTime, func(context.Context) error { <-hung; return nil })
		}
		begin := time.Now()
		require.ErrorIs(t, s.Run(t.Context()), context.DeadlineExceeded)
		close(hung)
		require.Equal(t, DrainTime+parts*stepGrace, time.Since(begin), "less than the 10 s after which it is killed")
		require.Less(t, DrainTime+parts*stepGrace, 10*time.Second)
	})
}

func TestShutdownReportsTheFirstFailure(t *testing.T) {
	t.Parallel()
	s := NewShutdown(slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	close(done)
	s.Watch(done, func() error { return errors.New("the database is gone") })
	require.EqualError(t, s.Wait(t.Context()), "the database is gone")
	s.Watch(done, func() error { return nil }) // stopped as wanted
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Wait(ended))
}
