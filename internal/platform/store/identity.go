package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Identity returns the fingerprint recorded under name, empty where none is. The first caller records its own.
func (s *Store) Identity(ctx context.Context, name, own string) (string, error) {
	if own != "" {
		_, err := s.pool.Exec(ctx, `
			insert into identity (name, fingerprint, recorded_at) values ($1, $2, $3)
			on conflict (name) do nothing`, name, own, s.Now())
		if err != nil {
			return "", away(fmt.Errorf("record the %s: %w", name, err))
		}
	}
	var recorded string
	err := s.pool.QueryRow(ctx, `select fingerprint from identity where name = $1`, name).Scan(&recorded)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", away(fmt.Errorf("read the recorded %s: %w", name, err))
	}
	return recorded, nil
}

// ReplaceIdentity records another fingerprint under name.
func (s *Store) ReplaceIdentity(ctx context.Context, name, own string) error {
	_, err := s.pool.Exec(ctx, `
		insert into identity (name, fingerprint, recorded_at) values ($1, $2, $3)
		on conflict (name) do update set fingerprint = $2, recorded_at = $3`, name, own, s.Now())
	return away(err)
}

// ErrUnreadable: the database holds values that a key file cannot open.
var ErrUnreadable = errors.New("the database holds values of other keys")

// Readable tries one value of each key in each table. It returns an ErrUnreadable for one that sealer cannot open.
func (s *Store) Readable(ctx context.Context, sealer Sealer) error {
	for _, table := range sealedTables {
		rows, err := s.pool.Query(ctx, table.samples)
		if err != nil {
			return away(fmt.Errorf("read encrypted values of %s: %w", table.name, err))
		}
		values, err := pgx.CollectRows(rows, scanSealed)
		if err != nil {
			return away(fmt.Errorf("read encrypted values of %s: %w", table.name, err))
		}
		for _, v := range values {
			if _, err := sealer.Open(table.name, v.sealed, v.place[:]); err != nil {
				return fmt.Errorf("%w: decrypt the row %s of %s: %w", ErrUnreadable, v.key, table.name, err)
			}
		}
	}
	return nil
}
