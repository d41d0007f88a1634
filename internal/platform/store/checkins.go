package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// HostCheckIn says that a registered host polled.
type HostCheckIn struct {
	InfraEnvID, HostID uuid.UUID
	At                 time.Time
	Timestamp          int64 // the host's clock in Unix seconds; 0 when it sent none
}

// CheckIns records many polls with one statement. A host that is deleted, or has a later check-in, is skipped.
func (s *Store) CheckIns(ctx context.Context, list []HostCheckIn) error {
	infraEnvs, hosts := make([][16]byte, len(list)), make([][16]byte, len(list)) // plain, as in Poll
	ats, timestamps := make([]time.Time, len(list)), make([]int64, len(list))
	for i, c := range list {
		infraEnvs[i], hosts[i], ats[i], timestamps[i] = c.InfraEnvID, c.HostID, c.At, c.Timestamp
	}
	_, err := s.pool.Exec(ctx, `
		update host_checkins k set
		  checked_in_at = v.at, host_timestamp = case when v.ts = 0 then k.host_timestamp else v.ts end
		from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[]) as v (infra_env_id, host_id, at, ts)
		where k.infra_env_id = v.infra_env_id and k.host_id = v.host_id and k.checked_in_at < v.at`,
		infraEnvs, hosts, ats, timestamps)
	if err != nil {
		return fmt.Errorf("record %d check-ins: %w", len(list), err)
	}
	return nil
}

// CheckIn records that a host polled, and marks for evaluation what refresh queues, in one transaction: a reading of a clock
// that is stored is never left unjudged. Callers skip it for CheckInEvery after the last one.
func (s *Store) CheckIn(ctx context.Context, c HostCheckIn, refresh func(*Tx)) error {
	return s.Write(ctx, func(t *Tx) error {
		t.batch.Queue(`
			insert into host_checkins as k (infra_env_id, host_id, checked_in_at, host_timestamp)
			values ($1, $2, $3, $4)
			on conflict (infra_env_id, host_id) do update set
			  checked_in_at = $3, host_timestamp = case when $4 = 0 then k.host_timestamp else $4 end`,
			c.InfraEnvID, c.HostID, c.At, c.Timestamp)
		refresh(t)
		return nil
	})
}

// MarkAwaitedLogs marks failed and cancelled clusters for evaluation while their logs, or a host's, are
// awaited: only the clock shows that they will not arrive.
func (s *Store) MarkAwaitedLogs(ctx context.Context) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select id from clusters
			where status in ('error', 'cancelled') and deleted_at is null and doc->>'logs_info' in ('requested', 'collecting')
			union
			select cluster_id from hosts
			where status in ('error', 'cancelled') and deleted_at is null and cluster_id is not null
			  and doc->>'logs_info' in ('requested', 'collecting')`)
		if err != nil {
			return fmt.Errorf("find awaited logs: %w", err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("find awaited logs: %w", err)
		}
		t := &Tx{now: s.Now()}
		for _, id := range ids {
			t.RefreshCluster(id)
		}
		return t.flush(ctx, tx)
	})
}
