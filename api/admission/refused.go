package admission

import (
	"errors"
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"slipway/internal/platform/httpapi"
)

const (
	// refusedFor is how long a credential stays refused that asked for more than its rate. Nothing is looked up for it meanwhile.
	refusedFor = 250 * time.Millisecond
	// lateness is how long a refusal of one request of too many is held: who sends requests one after the other sends fewer of them.
	lateness = 100 * time.Millisecond
	// latenessOfBodies is the same of a large body: reading it costs more than all else of the request.
	latenessOfBodies = time.Second
	// maxRefused is how many are kept; beyond it all are forgotten, and looked up again.
	maxRefused = 10_000
)

// refusals are the credentials that asked for more than their rates just now, as they were sent. It is safe for concurrent use.
type refusals struct {
	now  func() time.Time
	seed maphash.Seed

	mu  sync.Mutex
	all map[uint64]refusedUntil
}

type refusedUntil struct {
	until  time.Time
	answer error
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, seed: maphash.MakeSeed(), all: map[uint64]refusedUntil{}}
}

// credentialUse is a credential as it was sent, for an object: one that many hosts share is another caller's for each InfraEnv.
type credentialUse struct {
	place, credential     string
	infraEnvID, clusterID uuid.UUID
}

// of returns the refusal of a credential; nil: it is to be looked up.
func (f *refusals) of(use credentialUse) error {
	id, now := maphash.Comparable(f.seed, use), f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.all[id]
	if known && !now.Before(last.until) {
		delete(f.all, id)
		return nil
	}
	return last.answer
}

// add keeps the refusal of a credential.
func (f *refusals) add(use credentialUse, answer error) {
	id, until := maphash.Comparable(f.seed, use), f.now().Add(refusedFor)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) >= maxRefused {
		clear(f.all)
	}
	f.all[id] = refusedUntil{until, answer}
}

// holdRefusal waits when a request was refused because it was one of too many, or had a large body. The answer is short, and sent when the
// handler returns.
func holdRefusal(r *http.Request) {
	err := httpapi.About(r).Err
	wait := lateness
	switch {
	case err == nil || httpapi.ServerFault(httpapi.Status(err)):
		return
	case sendsMuch(r):
		wait = latenessOfBodies
	case !errors.Is(err, httpapi.ErrTooMany):
		return
	}
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
	}
}
