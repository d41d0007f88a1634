package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// Identity finds the caller of a request. auth.None and auth.Local implement it.
type Identity interface {
	// Open reports that callers need no credential at all.
	Open() bool
	// Caller returns the owner of a credential of a scheme; auth.ErrRefused for an invalid one.
	Caller(ctx context.Context, scheme auth.Scheme, credential string) (auth.Caller, error)
	// AgentToken returns the token that the discovery image of an InfraEnv has for agents.
	AgentToken(e *model.InfraEnv) (model.Secret, error)
	// HostToken returns a token of one host; empty where agents need none of their own. Renew returns another one for an agent
	// whose own is old; empty when it is not.
	HostToken(h *model.Host, key model.Secret) (model.Secret, error)
	Renew(credential string) (model.Secret, error)
	// UserToken signs a token of a user; auth.ErrNoUserTokens where this service makes none.
	UserToken(t model.UserToken) (model.Secret, error)
	// ImageLink returns the link that opens the discovery image of an InfraEnv.
	ImageLink(e *model.InfraEnv) (auth.ImageLink, error)
}

// SignIn gives users of an issuer of OpenID Connect tokens of this service.
type SignIn interface {
	// Describe says how programs sign in at the issuer.
	Describe() wire.SignInAt
	// Begin gives a user of the issuer a token of this service.
	Begin(ctx context.Context, caller auth.Caller) (model.UserToken, model.Secret, error)
}

// Actor is the caller of an operation.
type Actor = auth.Caller

// Authorize decides whether an actor may do an operation (an operationId) to an object.
// It returns httpapi.ErrUnauthenticated or httpapi.ErrForbidden to refuse.
type Authorize func(ctx context.Context, actor Actor, operation string, object Object) error

type callerKey struct{}

// callerOf returns the caller of a request.
func callerOf(r *http.Request) Actor {
	caller, known := r.Context().Value(callerKey{}).(Actor)
	if !known {
		return anyone
	}
	return caller
}

// anyone is the caller of mode none, which accepts every request.
var anyone = auth.Admin

// authorize is the authorization check: it finds the caller of an operation and checks access to the object. It returns
// httpapi.ErrUnauthenticated or httpapi.ErrForbidden to refuse.
func (s *server) authorize(r *http.Request, o *operation) (Actor, error) {
	actor, err := s.authenticate(r, o)
	if err != nil {
		return Actor{}, err
	}
	if !s.Identity.Open() {
		if err := checkRole(actor, o.id); err != nil {
			return Actor{}, err
		}
	}
	return actor, s.Authorize(r.Context(), actor, o.id, objectOf(r, o))
}

// authenticate finds the caller. A signed address opens one file, in every mode; an invalid signature opens nothing.
func (s *server) authenticate(r *http.Request, o *operation) (Actor, error) {
	switch {
	case r.URL.Query().Has(signatureParam):
		if err := s.checkSignature(r); err != nil {
			return Actor{}, refusal(signatureParam, err)
		}
		return anyone, nil
	case s.Identity.Open():
		return anyone, nil
	}
	return s.identify(r, o)
}

// identify accepts the first valid credential of the schemes of the operation.
func (s *server) identify(r *http.Request, o *operation) (Actor, error) {
	var refused error
	for _, scheme := range o.schemes {
		place := scheme.Place()
		credential := place.Of(r)
		if credential == "" {
			continue
		}
		caller, err := s.Identity.Caller(r.Context(), scheme, credential)
		if err == nil {
			return caller, s.rates.use(caller)
		}
		if !errors.Is(err, auth.ErrRefused) {
			return Actor{}, err
		}
		refused = refusal(place.Name, err)
	}
	if refused != nil {
		return Actor{}, s.rates.refused(r, refused)
	}
	names := make([]string, len(o.schemes))
	for i, scheme := range o.schemes {
		names[i] = scheme.Place().Name
	}
	return Actor{}, httpapi.Errorf(httpapi.ErrUnauthenticated, "require a credential in %s, found none", strings.Join(names, " or "))
}

// refusal returns the error of an invalid credential, with its place.
func refusal(place string, err error) error {
	return httpapi.Errorf(httpapi.ErrUnauthenticated, "%s: %s", place, strings.TrimPrefix(err.Error(), auth.ErrRefused.Error()+": "))
}
