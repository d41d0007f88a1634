package wire

import "github.com/google/uuid"

// UserToken is a token of a user. It is of our own API (api/slipway.yaml), not of the contract.
type UserToken struct {
	ID         uuid.UUID `json:"id"`
	UserName   string    `json:"user_name"`
	OrgID      string    `json:"org_id,omitempty"`
	Role       string    `json:"role"` // admin, user, viewer, kube
	Note       string    `json:"note,omitempty"`
	CreatedBy  string    `json:"created_by"`
	CreatedAt  DateTime  `json:"created_at"`
	ExpiresAt  DateTime  `json:"expires_at"`
	LastUsedAt *DateTime `json:"last_used_at,omitempty"` // to an hour; missing: never
	Token      string    `json:"token,omitempty"`        // only in the answer to its creation
}

// IssuerUser is a user of an issuer of OpenID Connect, under the name that the user came with first.
type IssuerUser struct {
	Name      string   `json:"name"`
	Issuer    string   `json:"issuer"`
	Subject   string   `json:"subject"` // claim sub
	CreatedAt DateTime `json:"created_at"`
}

// UserTokenCreateParams ask for a token of a user.
type UserTokenCreateParams struct {
	UserName          string `json:"user_name"`
	Role              string `json:"role,omitempty"` // user without one
	OrgID             string `json:"org_id,omitempty"`
	Note              string `json:"note,omitempty"`
	ExpirationSeconds int64  `json:"expiration_seconds,omitempty"` // 30 days without one
}
