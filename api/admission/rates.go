package admission

import (
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"slipway/internal/platform/httpapi"
)

// maxRates is how many credentials and addresses are counted; beyond it those that were silent longest are forgotten.
const maxRates = 100_000

// rates counts the requests of each credential, and the wrong credentials of each address.
type rates struct {
	limits Limits
	now    func() time.Time
	seed   maphash.Seed

	mu  sync.Mutex
	all map[uint64]*counted
}

type counted struct {
	*rate.Limiter
	last time.Time
}

func newRates(limits Limits, now func() time.Time) *rates {
	return &rates{limits: limits, now: now, seed: maphash.MakeSeed(), all: map[uint64]*counted{}}
}

// of finds the counter of a key.
func (r *rates) of(kind, key string, limit Rate) *counted {
	id := maphash.String(r.seed, kind+"\x00"+key)
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.all[id]
	if !known {
		if len(r.all) >= maxRates {
			r.forget(now)
		}
		c = &counted{Limiter: rate.NewLimiter(rate.Limit(limit.PerSecond), limit.Burst)}
		r.all[id] = c
	}
	c.last = now
	return c
}

// forget drops counters that are full again.
func (r *rates) forget(now time.Time) {
	for id, c := range r.all {
		if c.TokensAt(now) >= float64(c.Burst()) || now.Sub(c.last) > time.Minute {
			delete(r.all, id)
		}
	}
	if len(r.all) >= maxRates { // a flood of as many credentials: counting begins anew
		clear(r.all)
	}
}

// use counts a request of a credential.
func (r *rates) use(caller Caller) error {
	class := classOf(caller)
	limit, limited := r.limits.Rates[class]
	if !limited || r.of(string(class), caller.Key(), limit).AllowN(r.now(), 1) {
		return nil
	}
	return httpapi.Errorf(httpapi.ErrTooMany, "more than %d requests a second with one credential", limit.PerSecond)
}

// refused counts a wrong credential of an address, and returns the answer. Valid credentials from the same address are not held up:
// hosts may share it with an attacker.
func (r *rates) refused(request *http.Request, refusal error) error {
	limit := r.limits.WrongCredentials
	if limit.PerSecond == 0 || r.of("refused", AddressOf(request), limit).AllowN(r.now(), 1) {
		return refusal
	}
	return httpapi.Errorf(httpapi.ErrTooMany, "more than %d wrong credentials a second from one address", limit.PerSecond)
}

// AddressOf returns where a request comes from, without the port.
func AddressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
