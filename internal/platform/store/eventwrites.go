package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// watched is a transaction that records which events it writes.
type watched struct {
	pgx.Tx
	events []model.Event
}

const insertEvent = `
	insert into events (name, category, severity, cluster_id, host_id, infra_env_id, request_id, message, props, at)`

// eventSQL writes an event; a quiet one only when it was not written recently.
func eventSQL(e model.Event) string {
	about := ""
	switch {
	case e.Quiet <= 0:
	case e.HostID != nil:
		about = "host_id = $5"
	case e.ClusterID != nil:
		about = "cluster_id = $4"
	case e.InfraEnvID != nil:
		about = "infra_env_id = $6"
	}
	if about == "" {
		return insertEvent + ` values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	}
	return insertEvent + fmt.Sprintf(`
		select $1::text, $2::text, $3::text, $4::uuid, $5::uuid, $6::uuid, $7::uuid, $8::text, $9::jsonb, $10::timestamptz
		where not exists (
		  select from events
		  where %s and name = $1 and message = $8 and at > $10 - interval '%d microseconds')`, about, e.Quiet/time.Microsecond)
}

// countFailedValidations records, for metrics, which validations of hosts still failed when their cluster is
// deleted.
func (s *Store) countFailedValidations(ctx context.Context, tx pgx.Tx, clusterID uuid.UUID, t *Tx) error {
	if s.observe == nil || len(t.events) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `
		select v->>'id', count(*) from hosts h, jsonb_array_elements(
		  case jsonb_typeof(h.doc->'validations') when 'array' then h.doc->'validations' else '[]' end) v
		where h.cluster_id = $1 and h.deleted_at is null and v->>'status' = 'failure'
		group by 1`, clusterID)
	if err != nil {
		return fmt.Errorf("count failed validations: %w", err)
	}
	failed := map[string]int{}
	var id string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { failed[id] = n; return nil }); err != nil {
		return fmt.Errorf("count failed validations: %w", err)
	}
	t.events[0].Counted.FailedHostValidations = failed
	return nil
}
