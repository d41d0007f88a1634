package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// drainTime is what a shutdown may take in all.
const drainTime = 9 * time.Second

// stepGrace is what a step gets to return after its time is up.
const stepGrace = 100 * time.Millisecond

// shutdown ends what has been started, the last one first.
type shutdown struct {
	logger *slog.Logger
	steps  []step
	failed chan error
}

type step struct {
	what  string
	most  time.Duration // what the step may take, so that the later ones have time left
	close func(context.Context) error
}

func newShutdown(logger *slog.Logger) *shutdown {
	return &shutdown{logger: logger, failed: make(chan error, 1)}
}

func (s *shutdown) add(what string, most time.Duration, closer func(context.Context) error) {
	s.steps = append(s.steps, step{what: what, most: most, close: closer})
}

// background runs work until the shutdown reaches it, and waits for it to end there.
func (s *shutdown) background(name string, work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	s.add(name, 2*time.Second, func(context.Context) error {
		cancel()
		done.Wait()
		return nil
	})
}

// watch makes the end of a part that the service cannot do without its own end.
func (s *shutdown) watch(done <-chan struct{}, reason func() error) {
	go func() {
		<-done
		if err := reason(); err != nil {
			s.fail(err)
		}
	}()
}

func (s *shutdown) fail(err error) {
	select {
	case s.failed <- err:
	default: // the first reason is the one to report
	}
}

// wait returns when the service is told to end, or has to.
func (s *shutdown) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		s.logger.Info("shutting down")
		return nil
	case err := <-s.failed:
		return err
	}
}

// run ends everything, at the latest after drainTime, even when ctx has ended.
func (s *shutdown) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	var failures error
	for i := len(s.steps) - 1; i >= 0; i-- {
		if err := s.steps[i].run(ctx); err != nil {
			failures = errors.Join(failures, err)
		}
	}
	return failures
}

// run gives up on a step that takes too long: what comes after it must have its turn.
func (s step) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.most)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.close(ctx) }()
	var err error
	select {
	case err = <-closed:
	case <-ctx.Done():
		// A step that minds its context ends now and says more; one that does not is left.
		select {
		case err = <-closed:
		case <-time.After(stepGrace):
			err = ctx.Err()
		}
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", s.what, err)
	}
	return nil
}
