package fair

import (
	"context"
	"runtime"
	"time"
)

// Turns bound how many goroutines of a kind use a processor at once, so that others find one free. They are safe for concurrent use; nil
// ones bound nothing.
type Turns struct{ places chan struct{} }

// NewTurns returns turns for half the processors, and one at least.
func NewTurns() *Turns { return &Turns{make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))} }

// Take waits for a turn until the context is done, whose cause it returns then. The caller gives the turn back.
func (t *Turns) Take(ctx context.Context) (leave func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t.places <- struct{}{}:
		return t.leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// takeWithin waits for a turn, and reports whether one came in time.
func (t *Turns) takeWithin(patience time.Duration) bool {
	select {
	case t.places <- struct{}{}:
		return true
	default:
	}
	ended := time.NewTimer(patience)
	defer ended.Stop()
	select {
	case t.places <- struct{}{}:
		return true
	case <-ended.C:
		return false
	}
}

func (t *Turns) leave() { <-t.places }
