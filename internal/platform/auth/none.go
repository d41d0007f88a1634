package auth

import (
	"context"
	"time"

	"slipway/internal/model"
)

// LinkKind is the form of the address of a discovery image (docs/reference/images.md,
// "Addresses").
type LinkKind string

// The forms of addresses.
const (
	ByID     LinkKind = "byid"
	ByAPIKey LinkKind = "byapikey"
	ByToken  LinkKind = "bytoken"
)

// ImageLink opens a discovery image: Value stands behind the kind in its address.
type ImageLink struct {
	Kind      LinkKind
	Value     string
	ExpiresAt time.Time // zero: never
}

// None is mode none: everybody is the administrator, with any credential or none.
type None struct{}

// Open reports that callers need no credential.
func (None) Open() bool { return true }

// Caller is always the administrator.
func (None) Caller(context.Context, Scheme, string) (Caller, error) { return Admin, nil }

// AgentToken is empty: agents need none.
func (None) AgentToken(*model.InfraEnv) (model.Secret, error) { return "", nil }

// ImageLink opens the image by the id of its environment.
func (None) ImageLink(e *model.InfraEnv) (ImageLink, error) {
	return ImageLink{Kind: ByID, Value: e.ID.String()}, nil
}
