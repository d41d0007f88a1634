package store

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"slipway/internal/model"
)

// pool makes the errors of a database that does not answer a model.ErrUnavailable.
type pool struct{ *pgxpool.Pool }

func (p pool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := p.Pool.Exec(ctx, sql, args...)
	return tag, away(err)
}

func (p pool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	found, err := p.Pool.Query(ctx, sql, args...)
	return rows{found}, away(err)
}

func (p pool) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return row{p.Pool.QueryRow(ctx, sql, args...)}
}

type rows struct{ pgx.Rows }

func (r rows) Err() error { return away(r.Rows.Err()) }

type row struct{ pgx.Row }

func (r row) Scan(into ...any) error { return away(r.Row.Scan(into...)) }

// awayError keeps the text of the database's error.
type awayError struct{ error }

func (e awayError) Unwrap() []error { return []error{e.error, model.ErrUnavailable} }

// awayCodes are refusals of a server that starts, stops or has no connection left (PostgreSQL, appendix A).
var awayCodes = []string{"57P01", "57P02", "57P03", "53300"}

// away marks an error that passes when the database is back.
func away(err error) error {
	var refused *pgconn.PgError
	var connect *pgconn.ConnectError
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		if !slices.Contains(awayCodes, refused.Code) && !strings.HasPrefix(refused.Code, "08") { // connection exception
			return err
		}
	case !errors.As(err, &connect) && !errors.As(err, &network) && !errors.Is(err, io.ErrUnexpectedEOF) && !pgconn.SafeToRetry(err):
		return err
	}
	return awayError{err}
}
