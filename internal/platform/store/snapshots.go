package store

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// snapshotBytes bounds what snapshots hold: the hosts of one cluster of a thousand.
	snapshotBytes = 64 << 20
	// snapshotLife is longer than the pause between two evaluations of a cluster that changes all the time.
	snapshotLife = 30 * time.Second
	// hostBytes is about how much a host takes with its inventory and validations, but without its connectivity report.
	hostBytes = 40 << 10
)

// snapshots keeps what the last evaluations read and wrote, for the next ones of the same subjects: of a large cluster few hosts have
// changed since, and no others are read. A snapshot that is kept is not changed any more.
type snapshots struct {
	mu    sync.Mutex
	of    map[uuid.UUID]*keptSnapshot
	bytes int
	turns int
}

type keptSnapshot struct {
	*snapshot
	bytes int
	turn  int // later ones are higher
	end   *time.Timer
}

// take removes and returns the snapshot of a subject, an empty one if none is kept.
func (s *snapshots) take(subjectID uuid.UUID) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.of[subjectID]
	if kept == nil {
		return &snapshot{}
	}
	s.drop(subjectID)
	return kept.snapshot
}

// keep keeps a snapshot of its subject in place of another, and drops the oldest ones if all are too many.
func (s *snapshots) keep(p *snapshot) {
	size := p.bytes()
	if len(p.hosts) == 0 || size > snapshotBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	subjectID := p.mark.SubjectID
	s.drop(subjectID)
	for s.bytes+size > snapshotBytes {
		s.drop(s.oldest())
	}
	if s.of == nil {
		s.of = map[uuid.UUID]*keptSnapshot{}
	}
	s.turns++
	kept := &keptSnapshot{snapshot: p, bytes: size, turn: s.turns}
	kept.end = time.AfterFunc(snapshotLife, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.of[subjectID] == kept {
			s.drop(subjectID)
		}
	})
	s.of[subjectID] = kept
	s.bytes += size
}

func (s *snapshots) oldest() (subjectID uuid.UUID) {
	first := s.turns + 1
	for id, kept := range s.of {
		if kept.turn < first {
			subjectID, first = id, kept.turn
		}
	}
	return subjectID
}

func (s *snapshots) drop(subjectID uuid.UUID) {
	if kept := s.of[subjectID]; kept != nil {
		kept.end.Stop()
		delete(s.of, subjectID)
		s.bytes -= kept.bytes
	}
}

// bytes returns about how much a snapshot holds.
func (p *snapshot) bytes() (sum int) {
	for _, h := range p.hosts {
		sum += hostBytes + len(h.Connectivity)
	}
	return sum
}

// compare panics when a host is not as the row of the same version.
func (p *snapshot) compare(rows *snapshot) {
	for i, row := range rows.hosts {
		h, ok := p.host(row)
		if !ok || p.versions[p.index[keyOf(row)]] != rows.versions[i] {
			continue
		}
		stored, err := hostRecord(row)
		known, errKnown := hostRecord(h)
		if err := errors.Join(err, errKnown); err != nil {
			panic(err)
		}
		if others := hostTable.others(stored, known); len(others) > 0 {
			panic(fmt.Errorf("host %s is known with other values than its row has in %v", row.ID, others))
		}
	}
}
