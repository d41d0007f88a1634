package admission

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// errTurn is the cause of a wait for a turn that took too long.
var errTurn = errors.New("no turn came")

// heavyReads are the turns in which large answers are made and sent, of each credential.
type heavyReads struct {
	limits Limits

	mu  sync.Mutex
	all map[string]*turns
}

// turns belong to one credential; its users have one, or wait for it.
type turns struct {
	*semaphore.Weighted
	users int
}

func newHeavyReads(limits Limits) *heavyReads {
	return &heavyReads{limits: limits, all: map[string]*turns{}}
}

// take waits for a turn, which the caller gives back.
func (h *heavyReads) take(r *http.Request, caller Caller) (leave func(), err error) {
	most := h.most(caller)
	if most == 0 || caller.Image { // the image service has a limit of its own
		return func() {}, nil
	}
	key := caller.Key()
	if r.URL.Query().Has(SignatureParam) {
		key = "address|" + r.URL.Path // signed addresses have no other owner
	}
	own, left := h.of(key, most)
	ctx, cancel := context.WithTimeoutCause(r.Context(), h.limits.HeavyWait, errTurn)
	defer cancel()
	if !own.TryAcquire(1) && own.Acquire(ctx, 1) != nil {
		left()
		if errors.Is(context.Cause(ctx), errTurn) {
			return nil, httpapi.Errorf(httpapi.ErrTooMany, "more than %d requests with a large answer at once with one credential", most)
		}
		return nil, context.Cause(ctx)
	}
	return func() { own.Release(1); left() }, nil
}

// most returns how many turns a credential has.
func (h *heavyReads) most(caller Caller) int {
	if caller.Role == auth.RoleForeign {
		return SharedReads * h.limits.HeavyReads
	}
	return h.limits.HeavyReads
}

// of finds the turns of a credential, which are forgotten when the last of their users has left.
func (h *heavyReads) of(key string, most int) (own *turns, left func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own, known := h.all[key]
	if !known {
		own = &turns{Weighted: semaphore.NewWeighted(int64(most))}
		h.all[key] = own
	}
	own.users++
	return own, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(h.all, key)
		}
	}
}
