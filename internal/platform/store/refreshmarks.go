package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// RefreshMark is a claim to evaluate a cluster, or the unbound hosts of an InfraEnv, after a change.
type RefreshMark struct {
	SubjectID uuid.UUID
	Cluster   bool
	dirty     int64
}

// ClaimRefresh claims the oldest due evaluation for the lease; it returns false when none is due. A claim that
// is not finished becomes due again when its lease ends.
func (s *Store) ClaimRefresh(ctx context.Context, lease time.Duration) (RefreshMark, bool, error) {
	var p RefreshMark
	var kind string
	now := s.Now()
	err := s.pool.QueryRow(ctx, `
		update pulses set refresh_at = $2
		where subject_id = (
		  select subject_id from pulses
		  where refresh_at <= $1
		  order by refresh_at
		  limit 1
		  for update skip locked
		)
		returning subject_id, kind, dirty`, now, now.Add(lease)).Scan(&p.SubjectID, &kind, &p.dirty)
	if isNoRows(err) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("claim evaluation: %w", err)
	}
	p.Cluster = kind == "cluster"
	return p, true, nil
}

// FinishRefresh ends a claim. Changes made since it was taken make it due again, not before notBefore.
func (s *Store) FinishRefresh(ctx context.Context, p RefreshMark, notBefore time.Time) error {
	_, err := s.pool.Exec(ctx, `
		update pulses set refresh_at = case when dirty = $2 then null else $3::timestamptz end
		where subject_id = $1`, p.SubjectID, p.dirty, notBefore)
	return err
}

// NextRefresh returns when the next evaluation is due; false when none is.
func (s *Store) NextRefresh(ctx context.Context) (time.Time, bool, error) {
	var at *time.Time
	err := s.pool.QueryRow(ctx, `select min(refresh_at) from pulses where refresh_at is not null`).Scan(&at)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read next evaluation: %w", err)
	}
	return orZero(at), at != nil, nil
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

var columnName = regexp.MustCompile(`[a-z_]+`)

// prefixed puts a table alias before each column of a list.
func prefixed(alias, columns string) string {
	return columnName.ReplaceAllString(columns, alias+"$0")
}
