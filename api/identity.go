package api

import (
	"context"
	"time"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/wire"
)

// Identity finds the caller of a request and makes credentials. auth.None and auth.Local implement it.
type Identity interface {
	admission.Identity
	// AgentToken returns the token that the discovery image of an InfraEnv has for agents.
	AgentToken(e *model.InfraEnv) (auth.AgentToken, error)
	// HostToken returns a token of one host; empty where agents need none of their own. Renew returns a new token for an agent whose own
	// is old, else an empty one.
	HostToken(h *model.Host, key model.Secret) (model.Secret, error)
	Renew(credential string) (model.Secret, error)
	// UserToken signs a token of a user; auth.ErrNoUserTokens where this service makes none.
	UserToken(t model.UserToken) (model.Secret, error)
	// ImageLink returns the link that opens the discovery image of an InfraEnv, at most until a time that is not zero.
	ImageLink(e *model.InfraEnv, until time.Time) (auth.ImageLink, error)
}

// SignIn gives users of an issuer of OpenID Connect tokens of this service.
type SignIn interface {
	// Describe says how programs sign in at the issuer.
	Describe() wire.SignInAt
	// Begin gives a user of the issuer a token of this service.
	Begin(ctx context.Context, caller auth.Caller) (model.UserToken, model.Secret, error)
}
