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

// OtherServer lets the snapshots of evaluations come from another database server.
func (s *Store) OtherServer() {
	s.snapshots.mu.Lock()
	defer s.snapshots.mu.Unlock()
	for _, kept := range s.snapshots.of {
		kept.server = kept.server.Add(-time.Hour)
	}
}

// Snapshots are the snapshots of evaluations.
type Snapshots struct{ snapshots }

// Keep keeps a snapshot of hosts.
func (s *Snapshots) Keep(subjectID uuid.UUID, hosts ...*model.Host) {
	s.keep(&snapshot{mark: RefreshMark{SubjectID: subjectID}, hosts: hosts})
}

// Kept lists the subjects that have a snapshot, of some.
func (s *Snapshots) Kept(of ...uuid.UUID) (kept []uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range of {
		if s.of[id] != nil {
			kept = append(kept, id)
		}
	}
	return kept
}

// Bytes returns how much all of them hold.
func (s *Snapshots) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
