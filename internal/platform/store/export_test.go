package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Exec runs a statement of a test.
func (s *Store) Exec(ctx context.Context, sql string) error {
	_, err := s.pool.Exec(ctx, sql)
	return err
}

// OtherServer lets the snapshot of a subject come from another database server.
func (s *Store) OtherServer(subjectID uuid.UUID) {
	p := s.snapshots.last(subjectID)
	p.server = p.server.Add(-time.Hour)
}

// Snapshots are the snapshots of evaluations.
type Snapshots struct{ snapshots }

// NewSnapshots returns none yet.
func NewSnapshots() Snapshots { return Snapshots{newSnapshots()} }

// Keep keeps a snapshot of hosts.
func (s Snapshots) Keep(subjectID uuid.UUID, hosts ...*model.Host) {
	s.keep(&snapshot{mark: RefreshMark{SubjectID: subjectID}, hosts: hosts})
}

// Kept lists the subjects that have a snapshot, of some, and returns how much these hold.
func (s Snapshots) Kept(of ...uuid.UUID) (kept []uuid.UUID, bytes int) {
	for _, id := range of {
		if p := s.last(id); len(p.hosts) > 0 {
			kept, bytes = append(kept, id), bytes+p.bytes()
		}
	}
	return kept, bytes
}
