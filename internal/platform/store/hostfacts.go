package store

import (
	"context"

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
