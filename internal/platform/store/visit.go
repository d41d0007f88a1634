package store

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// visit hands rows on one by one, so that a long list needs no room, and closes them.
func visit[T any](rows pgx.Rows, scan func(pgx.Row) (T, error), yield func(T) error) error {
	defer rows.Close()
	for rows.Next() {
		value, err := scan(rows)
		if err != nil {
			return err
		}
		if err := yield(value); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return nil
}
