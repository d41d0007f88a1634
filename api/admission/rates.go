package admission

import (
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// allowance is how many requests of a credential are answered: a second, in the long run, and at once.
type allowance struct {
	every rate.Limit
	burst int
}

// allowances are several times what programs of each kind ask for at most. All hosts of an InfraEnv share one token of the v2 API.
var allowances = map[auth.Role]allowance{
	auth.RoleAdmin: {200, 1000}, auth.RoleKube: {200, 1000}, auth.RoleUser: {100, 500}, auth.RoleViewer: {100, 500},
	auth.RoleWatcher: {20, 100}, auth.RoleAddress: {50, 300},
	auth.RoleAgent: {50, 300}, auth.RoleController: {50, 300}, auth.RoleRegistrar: {200, 5000}, auth.RoleForeign: {2000, 10_000},
}

// refusals are how many wrong credentials of one address are answered one by one.
var refusals = allowance{50, 1000}

// maxRates is how many credentials and addresses are counted; beyond it those that were silent longest are forgotten.
const maxRates = 100_000

// rates counts the requests of each credential, and the wrong credentials of each address.
type rates struct {
	now  func() time.Time
	seed maphash.Seed

	mu  sync.Mutex
	all map[uint64]*counted
}

type counted struct {
	*rate.Limiter
	last time.Time
}

func newRates(now func() time.Time) *rates {
	return &rates{now: now, seed: maphash.MakeSeed(), all: map[uint64]*counted{}}
}

// of finds the counter of a key.
func (r *rates) of(kind, key string, a allowance) *counted {
	id := maphash.String(r.seed, kind+"\x00"+key)
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.all[id]
	if !known {
		if len(r.all) >= maxRates {
			r.forget(now)
		}
		c = &counted{Limiter: rate.NewLimiter(a.every, a.burst)}
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
	a, limited := allowances[caller.Role]
	if !limited || r.of(string(caller.Role), caller.Key(), a).AllowN(r.now(), 1) {
		return nil
	}
	return httpapi.Errorf(httpapi.ErrTooMany, "more than %d requests a second with one credential", int(a.every))
}

// refused counts a wrong credential of an address, and returns the answer. Valid credentials from the same address are not held up:
// hosts may share it with an attacker.
func (r *rates) refused(request *http.Request, refusal error) error {
	if r.of("refused", AddressOf(request), refusals).AllowN(r.now(), 1) {
		return refusal
	}
	return httpapi.Errorf(httpapi.ErrTooMany, "more than %d wrong credentials a second from one address", int(refusals.every))
}

// AddressOf returns where a request comes from, without the port.
func AddressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
