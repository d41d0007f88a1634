package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// UpdateHostFacts works as UpdateHost, without the host's connectivity report, which grows with the number of
// hosts: fn does not see it, and it stays unchanged.
func (s *Store) UpdateHostFacts(ctx context.Context, infraEnvID, id uuid.UUID, fn func(*model.Host, *Tx) error) (*model.Host, error) {
	var out *model.Host
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		row := tx.QueryRow(ctx, `
			select `+narrowHostColumns+` from `+hostTables+`
			where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null
			for update of h`, infraEnvID, id)
		h, err := s.scanHost(row)
		if err != nil {
			return notFound(err, "host", id)
		}
		before, err := hostRecord(h)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(h, t); err != nil {
			return err
		}
		h.Connectivity, out = nil, h
		if err := s.writeHost(ctx, tx, t.now, h, before); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
	return out, err
}

// Again is the reply of a host that may have sent the same before.
type Again struct {
	InfraEnvID, HostID uuid.UUID
	Fact               model.Fact
	StepID             string // empty: to the last question
	Digest             string // see model.FactRecord
	// Statuses are those in which it counts and is no sign of life that was missed.
	Statuses []model.HostStatus
}

// AnsweredAgain records the answer of a host whose reply equals the reply that was read last, and reports whether it does: the rest of
// the row stays as it is, and is not read.
func (s *Store) AnsweredAgain(ctx context.Context, again Again) (same bool, err error) {
	at, err := json.Marshal(s.Now())
	if err != nil {
		return false, err
	}
	tag, err := s.pool.Exec(ctx, `
		update hosts set facts = jsonb_set(facts, array[$3, 'answered_at'], $4::jsonb)
		where infra_env_id = $1 and id = $2 and deleted_at is null and status = any ($7::text[])
		  and facts->$3->>'digest' = $5 and ($6 = '' or facts->$3->>'step_id' = $6)
		  and doc->>'media_status' is distinct from $8`,
		again.InfraEnvID, again.HostID, string(again.Fact), at, again.Digest, again.StepID, again.Statuses, string(model.MediaDisconnected))
	if err != nil {
		return false, fmt.Errorf("record answer of host %s: %w", again.HostID, err)
	}
	return tag.RowsAffected() > 0, nil
}
