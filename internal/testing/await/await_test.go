package await_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
)

// failing records that a test failed, instead of ending it. It has no deadline.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) FailNow()              { panic(f) }
func (f *failing) Helper()               {}
func (f *failing) left(work func()) (failed bool) {
	defer func() { failed = recover() != nil && f.failed }()
	work()
	return false
}

func TestWaitsEndWithWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		values := make(chan int)
		go func() {
			time.Sleep(5 * time.Minute)
			values <- 7
			close(values)
		}()
		begun := time.Now()
		f := &failing{TB: t}
		require.Equal(t, 7, await.Receive(f, values))
		require.Zero(t, await.Receive(f, values), "it is closed")
		await.True(f, func() bool { return time.Since(begun) > 9*time.Minute })
	})
}

func TestWaitsFailATestThatWouldHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		f := &failing{TB: t}
		require.True(t, f.left(func() { await.True(f, func() bool { return false }) }))
		require.True(t, f.left(func() { await.Receive(f, make(chan int)) }))
		require.GreaterOrEqual(t, time.Since(begun), 20*time.Minute)
	})
}

// A machine that lets tasks wait half of the time takes twice as long; a state that changes starts the patience anew.
func TestWatchCountsTimeInWhichTheMachineWasFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := await.Begin(&failing{TB: t})
		w.Starve(func() time.Duration { return time.Since(begun) / 2 })
		over := func() time.Duration {
			from := time.Now()
			for !w.Over() {
				time.Sleep(time.Second)
			}
			return time.Since(from)
		}
		require.InDelta(t, 20*time.Minute, over(), float64(5*time.Second))
		w.Progress("another state")
		require.InDelta(t, 20*time.Minute, over(), float64(5*time.Second))
		w.Progress("another state")
		require.True(t, w.Over(), "it is the same")
	})
}

func TestContextEndsWhenNothingProgresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx := await.Context(&failing{TB: t})
		<-ctx.Done()
		require.ErrorContains(t, context.Cause(ctx), "nothing has progressed")
		require.GreaterOrEqual(t, time.Since(begun), 10*time.Minute)
	})
}
