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
	SubjectID        uuid.UUID
	Cluster          bool
	dirty, evaluated int64
}

func (p RefreshMark) behind() bool { return p.dirty > p.evaluated }

// Evaluated reports that another evaluation knew the change already, such as a reader's (see Behind).
func (p RefreshMark) Evaluated() bool { return !p.behind() }

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
		returning subject_id, kind, dirty, evaluated`, now, now.Add(lease)).Scan(&p.SubjectID, &kind, &p.dirty, &p.evaluated)
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

// Reading selects what somebody is about to read: a cluster, a host, the hosts of an InfraEnv, or with a zero value all
// clusters.
type Reading struct {
	ClusterID, InfraEnvID, HostID uuid.UUID
	// InfraEnvs selects InfraEnvs without their hosts. InfraEnvID narrows it to one.
	InfraEnvs bool
}

// subjects returns the condition for pulses p of what is read, with arguments from $n on.
func (r Reading) subjects(n int) (condition string, args []any) {
	switch {
	case r.InfraEnvs:
		return `false`, nil // only hosts and clusters are evaluated
	case r.ClusterID != uuid.Nil:
		return fmt.Sprintf(`p.subject_id = $%d`, n), []any{r.ClusterID}
	case r.HostID != uuid.Nil:
		return fmt.Sprintf(`p.subject_id = (
		  select coalesce(h.cluster_id, h.infra_env_id) from hosts h where h.infra_env_id = $%d and h.id = $%d)`, n, n+1),
			[]any{r.InfraEnvID, r.HostID}
	case r.InfraEnvID != uuid.Nil:
		// Not a join: hosts are looked at for the few that are behind only.
		return fmt.Sprintf(`(
		  select true from hosts h where h.infra_env_id = $%d and coalesce(h.cluster_id, h.infra_env_id) = p.subject_id limit 1)`, n),
			[]any{r.InfraEnvID}
	}
	return `p.kind = 'cluster'`, nil
}

// Behind returns the marks, at most limit, of clusters and InfraEnvs in a reading that changed since they were evaluated
// and have at most the given number of hosts.
func (s *Store) Behind(ctx context.Context, of Reading, hosts, limit int) ([]RefreshMark, error) {
	subjects, args := of.subjects(3)
	rows, err := s.pool.Query(ctx, `
		select p.subject_id, p.kind = 'cluster', p.dirty, p.evaluated from pulses p
		where p.dirty > p.evaluated and `+subjects+`
		  and case p.kind
		    when 'cluster' then (select count(*) from hosts h where h.cluster_id = p.subject_id and h.deleted_at is null)
		    else (select count(*) from hosts h where h.infra_env_id = p.subject_id and h.cluster_id is null and h.deleted_at is null)
		  end <= $1
		limit $2`, append([]any{hosts, limit}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p RefreshMark, err error) {
		err = row.Scan(&p.SubjectID, &p.Cluster, &p.dirty, &p.evaluated)
		return p, err
	})
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
