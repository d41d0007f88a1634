package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Signals wakes waiters when another process (or this one) has work for them. A lost connection wakes all of
// them once, so that nothing is missed.
type Signals struct {
	store *Store
	log   *slog.Logger

	mu        sync.Mutex
	hosts     map[uuid.UUID][]chan struct{}
	reported  chan struct{}
	refreshes chan struct{}
}

// NewSignals makes Signals; Run must be running for them to arrive.
func NewSignals(s *Store, log *slog.Logger) *Signals {
	return &Signals{
		store: s, log: log, hosts: map[uuid.UUID][]chan struct{}{},
		reported: make(chan struct{}, 1), refreshes: make(chan struct{}, 1),
	}
}

// Reported returns a channel that is signalled when a pending activity was reported.
func (g *Signals) Reported() <-chan struct{} { return g.reported }

// Refreshes returns a channel that is signalled when a cluster or unbound hosts have to be evaluated.
func (g *Signals) Refreshes() <-chan struct{} { return g.refreshes }

// Host returns a channel that is signalled when a pending activity waits for the host, and
// a function that ends the wait.
func (g *Signals) Host(id uuid.UUID) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	g.mu.Lock()
	g.hosts[id] = append(g.hosts[id], ch)
	g.mu.Unlock()
	return ch, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		left := g.hosts[id][:0]
		for _, c := range g.hosts[id] {
			if c != ch {
				left = append(left, c)
			}
		}
		if g.hosts[id] = left; len(left) == 0 {
			delete(g.hosts, id)
		}
	}
}

// Run listens until ctx ends, connecting again after every loss.
func (g *Signals) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := g.listen(ctx); err != nil && ctx.Err() == nil {
			g.log.Warn("notification connection lost", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (g *Signals) listen(ctx context.Context) error {
	config := g.store.pool.Config().ConnConfig.Copy()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, channel := range []string{channelHosts, channelReported, channelPulses} {
		if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
			return err
		}
	}
	g.wakeAll()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		g.deliver(n.Channel, n.Payload)
	}
}

func (g *Signals) deliver(channel, payload string) {
	switch channel {
	case channelReported:
		wake(g.reported)
	case channelPulses:
		wake(g.refreshes)
	case channelHosts:
		id, err := uuid.Parse(payload)
		if err != nil {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, ch := range g.hosts[id] {
			wake(ch)
		}
	}
}

func (g *Signals) wakeAll() {
	wake(g.reported)
	wake(g.refreshes)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, waiters := range g.hosts {
		for _, ch := range waiters {
			wake(ch)
		}
	}
}

func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
