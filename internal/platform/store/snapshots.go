package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/internal/platform/lru"
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
	of *lru.Cache[uuid.UUID, *snapshot]
}

func newSnapshots() snapshots {
	return snapshots{lru.NewExpiring[uuid.UUID, *snapshot](snapshotBytes/hostBytes, snapshotBytes, snapshotLife)}
}

// last returns the snapshot of a subject, an empty one if none is kept.
func (s snapshots) last(subjectID uuid.UUID) *snapshot {
	if p, found := s.of.Get(subjectID); found {
		return p
	}
	return &snapshot{}
}

// keep keeps a snapshot, unless it has no hosts or is too large.
func (s snapshots) keep(p *snapshot) {
	if size := p.bytes(); size > 0 && size <= snapshotBytes {
		s.of.Put(p.mark.SubjectID, p, size)
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
		at, ok := p.index[keyOf(row)]
		if !ok || p.versions[at] != rows.versions[i] {
			continue
		}
		stored, err := hostRecord(row)
		known, errKnown := hostRecord(p.hosts[at])
		if err := errors.Join(err, errKnown); err != nil {
			panic(err)
		}
		if others := hostTable.unequal(stored, known, ordinary, key, once, follows, alone); len(others) > 0 {
			panic(fmt.Errorf("host %s is known with other values than its row has in %v", row.ID, others))
		}
	}
}
