package model

import (
	"time"

	"github.com/google/uuid"
)

// UserToken is what a token of a user may do. The token itself is known to its owner only.
type UserToken struct {
	ID        uuid.UUID
	UserName  string
	OrgID     string // empty: the user is of no organization
	Role      string // a role of package auth
	Note      string // what it is for
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // to an hour; zero: never
}
