package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// abuseHold is how many seconds the service holds a poll here, instead of waitSeconds: enough polls for a percentile in a short time.
const abuseHold = 5

// polling are hosts that ask for their steps as agents do: each has one connection, on which a poll that the service holds is followed by
// one that it answers at once. A host that gets another answer, or none, counts it and comes again after a second.
type polling struct {
	*service
	held  int // seconds that the service holds a poll
	stop  context.CancelFunc
	group sync.WaitGroup

	mu   sync.Mutex
	seen polls
}

// polls count the answers to hosts in some time.
type polls struct {
	took []time.Duration // until polls were answered that are not held
	late []time.Duration // how long after its time a held poll was answered
	lost map[string]int  // polls and replies without their answer, by what came instead
}

func (p *polls) add(q polls) {
	p.took, p.late = append(p.took, q.took...), append(p.late, q.late...)
	for what, n := range q.lost {
		if p.lost == nil {
			p.lost = map[string]int{}
		}
		p.lost[what] += n
	}
}

func (p *polls) lostInAll() (n int) {
	for _, m := range p.lost {
		n += m
	}
	return n
}

// poll makes every machine ask until end is called, the first polls evenly over the time that one is held.
func (s *service) poll(machines []*machine) *polling { return s.pollFor(abuseHold, machines) }

// pollFor works as poll with polls that are held for so many seconds.
func (s *service) pollFor(held int, machines []*machine) *polling {
	s.tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &polling{service: s, held: held, stop: stop}
	for n, m := range machines {
		m.waits = held
		p.group.Go(func() {
			sleep(ctx, time.Duration(held)*time.Second*time.Duration(n)/time.Duration(len(machines)))
			for ctx.Err() == nil {
				if err := p.session(ctx, m); err != nil && ctx.Err() == nil {
					p.note(polls{lost: map[string]int{err.Error(): 1}})
					sleep(ctx, time.Second)
				}
			}
		})
	}
	return p
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// session polls on one connection until something fails.
func (p *polling) session(ctx context.Context, m *machine) error {
	l, err := p.connect()
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.close)()
	for ctx.Err() == nil {
		m.setClock()
		begun := time.Now()
		idle, err := m.ask(l, m.wait)
		if err != nil {
			return err
		}
		if late := time.Since(begun) - time.Duration(p.held)*time.Second; idle && late > 0 {
			p.note(polls{late: []time.Duration{late}})
		}
		begun = time.Now()
		if idle, err = m.ask(l, m.poll); err != nil {
			return err
		}
		p.note(polls{took: []time.Duration{time.Since(begun)}})
		if idle {
			continue
		}
		if _, err := m.answer(l, m.poll, callLimit); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a poll. It reports whether the host has nothing to do; what it has is asked for again.
func (m *machine) ask(l *line, request []byte) (idle bool, err error) {
	status, body, err := m.call(l, request, time.Duration(m.waits)*time.Second+callLimit)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("ask for steps: answered %d", status)
	}
	return bytes.Contains(body, idleAnswer), err
}

func (p *polling) note(q polls) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.add(q)
}

// take returns what was answered since the last call.
func (p *polling) take() polls {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = polls{}
	return seen
}

// settle waits until every host has asked, and forgets what was answered.
func (p *polling) settle() {
	time.Sleep(time.Duration(p.held) * time.Second)
	p.take()
}

func (p *polling) end() {
	p.stop()
	p.group.Wait()
}
