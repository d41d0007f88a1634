package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// HostCheckIn says that a registered host polled.
type HostCheckIn struct {
	InfraEnvID, HostID uuid.UUID
	At                 time.Time
	Timestamp          int64 // the host's clock in Unix seconds; 0 when it told none
}

// CheckIns records many polls with one statement. A host that is gone, or was heard of
// later, is left alone.
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
