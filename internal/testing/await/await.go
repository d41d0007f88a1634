// Package await waits in tests for what other goroutines and processes do. A wait ends when nothing progresses any more: time in which
// the machine lets tasks wait for a processor does not count, so that no test fails because a machine is busy.
package await

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// firstPause and lastPause are between the first two looks at a condition, and between later ones.
	firstPause = time.Millisecond
	lastPause  = 100 * time.Millisecond
	// lookEvery is how often a wait without a condition looks whether it is over.
	lookEvery = time.Second
)

// errOver is the cause of a Context that ends before its test.
var errOver = errors.New("nothing has progressed for too long")

// Limit returns most of the time left to the test process (go test -timeout), for programs that need a limit. It keeps a test from
// hanging; waits of a test itself use Context, True, Receive or a Watch.
func Limit(t testing.TB) time.Duration {
	if test, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, set := test.Deadline(); set {
			return max(time.Until(deadline)*9/10, time.Second)
		}
	}
	return 10 * patience
}

// Context returns a context of the test that ends when its Watch is over.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	w := Begin(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		for !w.Over() {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
		}
		cancel(errOver)
	}()
	t.Cleanup(func() { cancel(nil); <-done })
	return ctx
}

// True waits until a condition holds, and fails the test with the message when nothing progresses any more. The condition is called
// by the test's own goroutine, and may fail the test.
func True(t testing.TB, condition func() bool, message ...any) {
	t.Helper()
	w := Begin(t)
	for pause := firstPause; !condition(); pause = min(pause*3/2, lastPause) {
		if w.Over() {
			require.Fail(t, "the condition never holds", message...)
			t.FailNow()
		}
		time.Sleep(pause)
	}
}

// Receive returns the next value of a channel, or the zero value of a closed one, and fails the test with the message when there is
// none and nothing progresses any more.
func Receive[T any](t testing.TB, from <-chan T, message ...any) T {
	t.Helper()
	w := Begin(t)
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case got := <-from:
			return got
		case <-ticks.C:
			if w.Over() {
				require.Fail(t, "nothing is received", message...)
				t.FailNow()
			}
		}
	}
}
