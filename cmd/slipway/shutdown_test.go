package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShutdownEndsTheLastFirst(t *testing.T) {
	t.Parallel()
	s := newShutdown(slog.New(slog.DiscardHandler))
	var order []string
	for _, part := range []string{"database", "engine", "API"} {
		s.add(part, time.Second, func(context.Context) error { order = append(order, part); return nil })
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.run(cancelled))
	require.Equal(t, []string{"API", "engine", "database"}, order)
}

func TestShutdownGivesUpOnAPartThatHangs(t *testing.T) {
	t.Parallel()
	s := newShutdown(slog.New(slog.DiscardHandler))
	ended := false
	s.add("database", time.Second, func(context.Context) error { ended = true; return nil })
	s.add("worker", time.Millisecond, func(context.Context) error { select {} })
	err := s.run(t.Context())
	require.EqualError(t, err, "stop worker: context deadline exceeded")
	require.True(t, ended, "the ones after it have their turn")
}

func TestShutdownReportsTheFirstFailure(t *testing.T) {
	t.Parallel()
	s := newShutdown(slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	close(done)
	s.watch(done, func() error { return errors.New("the database is gone") })
	require.EqualError(t, s.wait(t.Context()), "the database is gone")
	s.watch(done, func() error { return nil }) // stopped as wanted
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.wait(ended))
}
