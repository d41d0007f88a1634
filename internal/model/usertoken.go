package model

import (
	"time"

	"github.com/google/uuid"
)

// IssuerUser is a user of an issuer of OpenID Connect, under the name that the user came with first.
type IssuerUser struct {
	Name, Issuer, Subject string
	CreatedAt             time.Time
}

// UserToken describes a token of a user and its rights. The token itself is known to its owner only.
type UserToken struct {
	ID        uuid.UUID `db:"id"`
	UserName  string    `db:"user_name"`
	OrgID     string    `db:"org_id"` // empty: the user is of no organization
	Role      string    `db:"role"`   // a role of package auth
	Note      string    `db:"note"`   // its purpose
	CreatedBy string    `db:"created_by"`
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
	UsedAt    time.Time `db:"used_at"` // to an hour; zero: never
}
