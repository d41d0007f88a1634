package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// usedEvery is the resolution of a token's last use.
const usedEvery = time.Hour

var tokenTable = tableOf[model.UserToken](layout{name: "tokens", key: []string{"id"}, read: map[string]string{"used_at": ""}})

var tokenColumns = tokenTable.selects()

// CreateToken makes a token of a user valid. Expired tokens are removed.
func (s *Store) CreateToken(ctx context.Context, t model.UserToken) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from tokens where expires_at < $1`, s.Now()); err != nil {
			return fmt.Errorf("remove expired tokens: %w", err)
		}
		sql, args := tokenTable.insert(tokenTable.record(&t))
		_, err := tx.Exec(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("insert token %s: %w", t.ID, err)
		}
		return nil
	})
}

// UseToken returns what a token may do, and records the use; model.ErrNotFound for one that was revoked or has expired.
func (s *Store) UseToken(ctx context.Context, id uuid.UUID) (model.UserToken, error) {
	row := s.pool.QueryRow(ctx, `select `+tokenColumns+` from tokens where id = $1 and expires_at > $2`, id, s.Now())
	t, err := scanToken(row)
	if err != nil {
		return t, notFound(err, "token", id)
	}
	if s.Now().Sub(t.UsedAt) < usedEvery {
		return t, nil
	}
	_, err = s.pool.Exec(ctx, `update tokens set used_at = $2 where id = $1 and (used_at is null or used_at < $2)`, id, s.Now())
	if err != nil {
		return t, fmt.Errorf("record the use of token %s: %w", id, err)
	}
	return t, nil
}

// TokenFilter narrows a list of tokens to one user's; without a name it does not.
type TokenFilter struct{ UserName, OrgID string }

// Tokens lists the valid tokens, newest first.
func (s *Store) Tokens(ctx context.Context, f TokenFilter) ([]model.UserToken, error) {
	rows, err := s.pool.Query(ctx, `
		select `+tokenColumns+` from tokens
		where expires_at > $1 and ($2 = '' or user_name = $2 and org_id = $3)
		order by created_at desc, id`, s.Now(), f.UserName, f.OrgID)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.UserToken, error) { return scanToken(row) })
}

// RevokeToken ends a token at once; model.ErrNotFound for an unknown token.
func (s *Store) RevokeToken(ctx context.Context, id uuid.UUID, f TokenFilter) error {
	tag, err := s.pool.Exec(ctx, `delete from tokens where id = $1 and ($2 = '' or user_name = $2 and org_id = $3)`, id, f.UserName, f.OrgID)
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	if tag.RowsAffected() == 0 {
		return model.NotFoundf("token %s was not found", id)
	}
	return nil
}

func scanToken(row pgx.Row) (t model.UserToken, err error) {
	err = tokenTable.scan(row, &t)
	return t, err
}
