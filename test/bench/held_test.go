package bench_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// heldLimit is longer than the service holds a poll, also on a busy machine.
const heldLimit = waitSeconds*time.Second + callLimit

// agents keep a poll open for every machine, answer what is asked and remember when.
type agents struct {
	*service
	stop     context.CancelFunc
	group    sync.WaitGroup
	polls    atomic.Int64
	left     atomic.Int64 // machines that have rebooted
	arrivals sync.Map     // step id: time.Time
	mu       sync.Mutex
	failure  error
}

// hold connects an agent for every machine, one after the other, evenly over the time
// a poll is held.
func (s *service) hold(machines []*machine) *agents {
	s.tb.Helper()
	return s.holdWithin(waitSeconds*time.Second, machines)
}

func (s *service) holdWithin(span time.Duration, machines []*machine) *agents {
	s.tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	a := &agents{service: s, stop: stop}
	pause := time.NewTicker(span / time.Duration(len(machines)))
	defer pause.Stop()
	for _, m := range machines {
		a.group.Go(func() { a.live(ctx, m) })
		<-pause.C
	}
	s.tb.Cleanup(a.end)
	return a
}

// end closes all connections.
func (a *agents) end() {
	a.tb.Helper()
	a.stop()
	a.group.Wait()
	require.NoError(a.tb, a.failure)
}

func (a *agents) live(ctx context.Context, m *machine) {
	l, err := a.connect()
	if err != nil {
		a.fail(m, err)
		return
	}
	defer l.close()
	unhook := context.AfterFunc(ctx, l.close)
	defer unhook()
	l.arrived = func(step string) { a.arrivals.LoadOrStore(step, time.Now()) }
	for ctx.Err() == nil {
		m.setClock()
		steps, err := m.answer(l, m.wait, heldLimit)
		var rebooted bool
		if err == nil {
			m.takeController(steps)
			rebooted, err = m.leave(l, steps)
		}
		if err != nil && ctx.Err() == nil {
			a.fail(m, err)
			return
		}
		a.polls.Add(1)
		if rebooted {
			a.left.Add(1)
			return
		}
	}
}

func (a *agents) fail(m *machine, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failure == nil {
		a.failure = fmt.Errorf("agent of host %s: %w", m.id, err)
	}
}
