package admission

import (
	"sync"

	"slipway/internal/platform/httpapi"
)

// Bounded counts what each owner has at once. It is safe for concurrent use.
type Bounded struct {
	most int
	what string

	mu  sync.Mutex
	now map[string]int
}

// NewBounded makes a Bounded, without a bound if most is zero; what names the things in the refusal: "large requests at once".
func NewBounded(most int, what string) *Bounded {
	return &Bounded{most: most, what: what, now: map[string]int{}}
}

// Enter counts one more for an owner until leave is called. It returns an httpapi.ErrTooMany for an owner that has all it may have.
func (b *Bounded) Enter(owner string) (leave func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && b.now[owner] >= b.most {
		return nil, httpapi.Errorf(httpapi.ErrTooMany, "more than %d %s", b.most, b.what)
	}
	b.now[owner]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.now[owner]--; b.now[owner] == 0 {
			delete(b.now, owner)
		}
	}, nil
}
