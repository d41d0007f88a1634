// Package await waits in tests for what other goroutines and processes do. Its limits only keep a test from hanging:
// they follow the deadline of the test process, so that no test fails because a machine is slow.
package await

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	longest = 10 * time.Minute
	// firstPause and lastPause are between the first two looks at a condition, and between later ones.
	firstPause = time.Millisecond
	lastPause  = 100 * time.Millisecond
)

// Limit returns how long a test may wait: most of the time left to the test process (go test -timeout), at most
// 10 minutes.
func Limit(t testing.TB) time.Duration {
	if test, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, set := test.Deadline(); set {
			return min(longest, max(time.Until(deadline)*9/10, time.Second))
		}
	}
	return longest
}

// Context returns a context of the test that ends after Limit.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit(t))
	t.Cleanup(cancel)
	return ctx
}

// True waits until a condition holds, and fails the test with the message when it does not within Limit. The
// condition is called by the test's own goroutine, and may fail the test.
func True(t testing.TB, condition func() bool, message ...any) {
	t.Helper()
	limit := time.NewTimer(Limit(t))
	defer limit.Stop()
	for pause := firstPause; !condition(); pause = min(pause*3/2, lastPause) {
		select {
		case <-limit.C:
			require.Fail(t, "the condition never holds", message...)
			t.FailNow()
		case <-time.After(pause):
		}
	}
}

// Receive returns the next value of a channel, or the zero value of a closed one, and fails the test with the
// message when there is none within Limit.
func Receive[T any](t testing.TB, from <-chan T, message ...any) T {
	t.Helper()
	timer := time.NewTimer(Limit(t))
	defer timer.Stop()
	var got T
	select {
	case got = <-from:
	case <-timer.C:
		require.Fail(t, "nothing is received", message...)
		t.FailNow()
	}
	return got
}
