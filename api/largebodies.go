package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"slipway/internal/model"
)

const (
	// largeBody is the size from which a body counts: reports of large clusters, archives of logs have a place of their own.
	largeBody = 1 << 20
	// largeBodies are in memory at once, 32 MiB at most each.
	largeBodies = 3
	// placePatience is how long a request waits for its turn.
	placePatience = 10 * time.Second
)

// places are the turns that requests take.
type places chan struct{}

// take waits for a turn; the caller gives it back.
func (p places) take(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(placePatience)
	defer wait.Stop()
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, fmt.Errorf("%w: too many large requests at once", model.ErrUnavailable)
	}
}

// large reports whether a request has a body that is read into memory, and may be large.
func large(r *http.Request, o *operation) bool {
	return o.limit > largeBody && o.body != nil && (r.ContentLength > largeBody || r.ContentLength < 0)
}
