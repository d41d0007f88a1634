package download

import (
	"errors"
	"fmt"
	"sync"
)

var (
	// ErrBusy: the maximum number of bodies is being sent, in all or for one owner (503).
	ErrBusy = errors.New("too many files are being sent")
	// ErrShare: the owner has its share of them; it is an ErrBusy.
	ErrShare = fmt.Errorf("%w: the share of one owner", ErrBusy)
)

// ownPerFree is how many bodies one owner may have for each place that is free. One owner alone gets three quarters of all places, two
// get three sevenths each: whoever comes next always finds one.
const ownPerFree = 3

// places are the bodies that are being sent, of each owner. The zero value has no bound.
type places struct {
	most int

	mu  sync.Mutex
	all int
	of  map[string]int
}

// check returns ErrBusy or ErrShare where another body of an owner would be too many. The caller has the lock.
func (p *places) check(owner string) error {
	switch free := p.most - p.all; {
	case p.most <= 0:
		return nil
	case free <= 0:
		return ErrBusy
	case p.of[owner] >= ownPerFree*free:
		return ErrShare
	}
	return nil
}

// enter counts the start of a body.
func (p *places) enter(owner string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check(owner); err != nil {
		return err
	}
	if p.of == nil {
		p.of = map[string]int{}
	}
	p.all++
	p.of[owner]++
	return nil
}

func (p *places) leave(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[owner]--; p.of[owner] == 0 {
		delete(p.of, owner)
	}
}

// Busy returns the error that another body of an owner would be refused with now; nil: it would be sent.
func (s *Sender) Busy(owner string) error {
	s.places.mu.Lock()
	defer s.places.mu.Unlock()
	return s.places.check(owner)
}
