package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// IssuerUserName returns the name of a user of an issuer: the first that the user came with. Another user who comes with that name is
// a model.ErrConflict.
func (s *Store) IssuerUserName(ctx context.Context, issuer, subject, name string) (string, error) {
	known := func() (found string, err error) {
		err = s.pool.QueryRow(ctx, `select name from issuer_users where issuer = $1 and subject = $2`, issuer, subject).Scan(&found)
		return found, err
	}
	found, err := known()
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = s.pool.Exec(ctx, `
			insert into issuer_users (issuer, subject, name, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
			issuer, subject, name, s.Now())
		if err == nil {
			found, err = known()
		}
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", model.Conflictf("the name %s belongs to another user of the issuer", name)
	case err != nil:
		return "", away(fmt.Errorf("read the name of user %s of %s: %w", subject, issuer, err))
	}
	return found, nil
}

// IssuerUsers lists the users of issuers who came, by name.
func (s *Store) IssuerUsers(ctx context.Context) ([]model.IssuerUser, error) {
	rows, err := s.pool.Query(ctx, `select name, issuer, subject, created_at from issuer_users order by name`)
	if err != nil {
		return nil, away(fmt.Errorf("list users of issuers: %w", err))
	}
	users, err := pgx.CollectRows(rows, pgx.RowToStructByPos[model.IssuerUser])
	if err != nil {
		return nil, away(fmt.Errorf("list users of issuers: %w", err))
	}
	return users, nil
}

// ForgetIssuerUser frees a name for whoever comes with it next, and ends the tokens of that name; model.ErrNotFound for a name that no
// user of an issuer has.
func (s *Store) ForgetIssuerUser(ctx context.Context, name string) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `delete from issuer_users where name = $1`, name)
		switch {
		case err != nil:
			return fmt.Errorf("forget user %s: %w", name, err)
		case tag.RowsAffected() == 0:
			return model.NotFoundf("no user of an issuer is known as %q", name)
		}
		if _, err := tx.Exec(ctx, `delete from tokens where user_name = $1`, name); err != nil {
			return fmt.Errorf("end the tokens of user %s: %w", name, err)
		}
		return nil
	})
}
