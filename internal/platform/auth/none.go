package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

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

// ImageLink gives access to a discovery image: Value follows the kind in its address.
type ImageLink struct {
	Kind      LinkKind
	Value     string
	ExpiresAt time.Time // zero: never
}

// None is mode none: every caller is the administrator, with any credential or none.
type None struct{}

// Open reports that callers need no credential.
func (None) Open() bool { return true }

// Caller returns the administrator.
func (None) Caller(context.Context, Scheme, string) (Caller, error) { return Admin, nil }

// AgentToken returns an empty token: agents need none.
func (None) AgentToken(*model.InfraEnv) (AgentToken, error) { return AgentToken{}, nil }

// ImageLink returns a link with the id of the InfraEnv.
func (None) ImageLink(e *model.InfraEnv, _ time.Time) (ImageLink, error) {
	return ImageLink{Kind: ByID, Value: e.ID.String()}, nil
}

// HostToken returns an empty token.
func (None) HostToken(*model.Host, model.Secret) (model.Secret, error) { return "", nil }

// Renew returns an empty token.
func (None) Renew(string) (model.Secret, error) { return "", nil }

// UserToken returns ErrNoUserTokens.
func (None) UserToken(model.UserToken) (model.Secret, error) { return "", ErrNoUserTokens }

// ControllerToken returns an empty token.
func (None) ControllerToken(uuid.UUID, int) (model.Secret, error) { return "", nil }
