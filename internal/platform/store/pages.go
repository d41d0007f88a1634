package store

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Place is the sort key of a row in a list of hosts or clusters. The row behind a place is the same whatever is added or removed.
type Place struct {
	CreatedAt time.Time
	ID        uuid.UUID
}

// args adds the arguments of the condition that a row comes after a place; nil: any row.
func (p *Place) args(more pgx.NamedArgs) pgx.NamedArgs {
	more["after_at"], more["after_id"] = nil, nil
	if p != nil {
		more["after_at"], more["after_id"] = p.CreatedAt, p.ID
	}
	return more
}
