// Package quota bounds how many bytes are kept from hosts: their inventories and logs. Whoever has a discovery image can send both.
package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	humanize "github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

const (
	// fresh is how long a count of the database is used; what this process accepts meanwhile is added to it.
	fresh = 10 * time.Second
	// recount is how long it is used when it would refuse: something may have been deleted.
	recount = time.Second
	// most bounds how many counts are remembered.
	most = 10_000
)

// Options configure a Quota. A zero bound is none.
type Options struct {
	Store *store.Store
	// InfraEnv and Tenant are the most bytes of an InfraEnv, and of all of an organization, or of a user without one.
	InfraEnv, Tenant int64
	Log              *slog.Logger
	Now              func() time.Time
}

// Quota admits bytes of hosts. It is safe for concurrent use.
type Quota struct {
	Options

	mu       sync.Mutex
	subjects map[Subject]*subject
	owners   map[string]*gauge
}

// Subject is an InfraEnv, or a cluster whose controller sends logs.
type Subject struct{ InfraEnvID, ClusterID uuid.UUID }

// subject is an InfraEnv or a cluster with its owner.
type subject struct {
	own, owner *gauge
	at         time.Time // of the count
}

// gauge is how many bytes are kept: what the database counted, what was written since, and what is on its way.
type gauge struct {
	counted       int64
	written, seen int64 // by this process, in all and before the count began
	open          int64
}

func (g *gauge) with(more int64) int64 { return g.counted + g.written - g.seen + g.open + more }

// recounted notes a count that began when so much was written.
func (g *gauge) recounted(bytes, written int64) { g.counted, g.seen = bytes, written }

// New returns a Quota.
func New(o Options) *Quota {
	return &Quota{Options: o, subjects: map[Subject]*subject{}, owners: map[string]*gauge{}}
}

// Usage returns how much is kept now.
func (q *Quota) Usage(ctx context.Context, of Subject) (store.Usage, error) {
	return q.Store.Usage(ctx, of.InfraEnvID, of.ClusterID)
}

// Reserve admits more bytes of a subject, until the caller reports with done how many of them are in the database. It returns a
// model.ErrTooLarge when that would be more than the limits, and an event says so.
func (q *Quota) Reserve(ctx context.Context, of Subject, more int64) (done func(kept int64), err error) {
	if q == nil || q.InfraEnv == 0 && q.Tenant == 0 {
		return func(int64) {}, nil
	}
	for {
		done, reason := q.reserve(of, more)
		if done != nil {
			return done, nil
		}
		if reason != "" {
			return nil, q.refuse(ctx, of, reason)
		}
		if err := q.count(ctx, of); err != nil {
			return nil, err
		}
	}
}

// reserve admits bytes by what is known, or says why not; without either the database is to count first.
func (q *Quota) reserve(of Subject, more int64) (done func(kept int64), reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, now := q.subjects[of], q.Now()
	if s == nil {
		return nil, ""
	}
	limit := fresh
	if reason = q.limitOf(s, more); reason != "" {
		limit = recount
	}
	if now.Sub(s.at) >= limit {
		s.at = now // others use the old count meanwhile
		return nil, ""
	}
	if reason != "" {
		return nil, reason
	}
	s.own.open += more
	s.owner.open += more
	return func(kept int64) {
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, g := range []*gauge{s.own, s.owner} {
			g.open -= more
			g.written += kept
		}
	}, ""
}

// count counts in the database. What is written while it does may be counted twice until the next time, and never not at all.
func (q *Quota) count(ctx context.Context, of Subject) error {
	q.mu.Lock()
	s := q.subjects[of]
	var own, owner int64
	if s != nil {
		own, owner = s.own.written, s.owner.written
	}
	q.mu.Unlock()
	u, err := q.Usage(ctx, of)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if s != nil {
		s.at = q.Now()
		s.own.recounted(u.InfraEnv, own)
		s.owner.recounted(u.Tenant, owner)
		return nil
	}
	if q.subjects[of] == nil { // else another request was first
		q.add(of, u)
	}
	return nil
}

// add notes the first count of a subject.
func (q *Quota) add(of Subject, u store.Usage) {
	if len(q.subjects) >= most {
		clear(q.subjects)
		clear(q.owners)
	}
	if q.owners[u.Owner] == nil {
		q.owners[u.Owner] = &gauge{counted: u.Tenant}
	}
	q.subjects[of] = &subject{own: &gauge{counted: u.InfraEnv}, owner: q.owners[u.Owner], at: q.Now()}
}

// limitOf names the limit that more bytes would break; empty: none.
func (q *Quota) limitOf(s *subject, more int64) string {
	switch {
	case q.InfraEnv > 0 && s.own.with(more) > q.InfraEnv:
		return "an infra-env keeps at most " + size(q.InfraEnv) + " of inventories and logs (--max-bytes-per-infra-env)"
	case q.Tenant > 0 && s.owner.with(more) > q.Tenant:
		return "the infra-envs and clusters of an organization or user keep at most " + size(q.Tenant) +
			" of inventories and logs (--max-bytes-per-tenant)"
	}
	return ""
}

func size(bytes int64) string { return humanize.IBytes(uint64(bytes)) } //nolint:gosec // a limit above zero

// refuse returns the error, and writes the event, which is quiet for a day.
func (q *Quota) refuse(ctx context.Context, of Subject, reason string) error {
	about := events.Subject{}
	if of.InfraEnvID != uuid.Nil {
		about.InfraEnvID = &of.InfraEnvID
	} else {
		about.ClusterID = &of.ClusterID
	}
	err := q.Store.Write(ctx, func(t *store.Tx) error {
		t.Event(events.New(events.BytesOfHostsRefused, about, events.Props{"message": reason}, t.Now()))
		return nil
	})
	if err != nil {
		q.Log.Warn("event was not written", "error", err)
	}
	return model.TooLargef("%s", reason)
}
