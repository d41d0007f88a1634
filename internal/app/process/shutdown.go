package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// DrainTime limits a whole shutdown.
const DrainTime = 9 * time.Second

// stepGrace is how long a step may take to return after its context ended.
const stepGrace = 100 * time.Millisecond

// Shutdown ends what has been started, in reverse order.
type Shutdown struct {
	logger *slog.Logger
	steps  []step
	failed chan error
}

type step struct {
	what  string
	most  time.Duration
	close func(context.Context) error
}

// NewShutdown returns a shutdown without steps.
func NewShutdown(logger *slog.Logger) *Shutdown {
	return &Shutdown{logger: logger, failed: make(chan error, 1)}
}

// Add appends a step; most limits it, so that later steps have time left.
func (s *Shutdown) Add(what string, most time.Duration, closer func(context.Context) error) {
	s.steps = append(s.steps, step{what: what, most: most, close: closer})
}

// Background runs work until the shutdown reaches it, and then waits until it returns.
func (s *Shutdown) Background(name string, work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	s.Add(name, 2*time.Second, func(context.Context) error {
		cancel()
		done.Wait()
		return nil
	})
}

// Watch ends the service when done is closed and reason gives an error.
func (s *Shutdown) Watch(done <-chan struct{}, reason func() error) {
	go func() {
		<-done
		if err := reason(); err != nil {
			s.Fail(err)
		}
	}()
}

// Fail ends the service with an error; only the first one is reported.
func (s *Shutdown) Fail(err error) {
	select {
	case s.failed <- err:
	default: // the first reason is the one to report
	}
}

// Wait returns when ctx is done (nil) or a part has failed.
func (s *Shutdown) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		s.logger.Info("shutting down")
		return nil
	case err := <-s.failed:
		return err
	}
}

// Run ends everything, at the latest after DrainTime, even when ctx has ended.
func (s *Shutdown) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTime)
	defer cancel()
	var failures error
	for i := len(s.steps) - 1; i >= 0; i-- {
		if err := s.steps[i].run(ctx); err != nil {
			failures = errors.Join(failures, err)
		}
	}
	return failures
}

// run abandons a step that takes too long, so that the next steps run.
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
