package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Identity tells who a request comes from. auth.None and auth.Local are the two there are.
type Identity interface {
	// Open reports that callers need no credential at all.
	Open() bool
	// Caller tells whose credential of a scheme it is; an auth.ErrRefused for nobody's.
	Caller(ctx context.Context, scheme auth.Scheme, credential string) (auth.Caller, error)
	// AgentToken is what agents of a discovery environment prove themselves with.
	AgentToken(e *model.InfraEnv) (model.Secret, error)
	// ImageLink opens the discovery image of an environment for whoever has it.
	ImageLink(e *model.InfraEnv) (auth.ImageLink, error)
}

// Actor is who asks for an operation.
type Actor = auth.Caller

// Authorize decides whether an actor may do an operation (an operationId) to an object.
// It returns httpapi.ErrUnauthenticated or httpapi.ErrForbidden to refuse.
type Authorize func(ctx context.Context, actor Actor, operation string, object Object) error

type callerKey struct{}

// callerOf is who makes a request.
func callerOf(r *http.Request) Actor {
	caller, known := r.Context().Value(callerKey{}).(Actor)
	if !known {
		return anyone
	}
	return caller
}

// anyone is the caller of mode none, where every credential, or none, is taken.
var anyone = auth.Admin

// authorize is the one door: it tells who asks for an operation, and whether the object
// it acts on is one for them. It returns httpapi.ErrUnauthenticated or httpapi.ErrForbidden to refuse.
func (s *server) authorize(r *http.Request, o *operation) (Actor, error) {
	actor, err := s.authenticate(r, o)
	if err != nil {
		return Actor{}, err
	}
	return actor, s.Authorize(r.Context(), actor, o.id, objectOf(r, o))
}

// authenticate tells who asks. A signed address opens one file, in every mode, and a bad
// one opens nothing.
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

// identify takes the first credential of the operation's schemes that proves something.
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
			return caller, nil
		}
		if !errors.Is(err, auth.ErrRefused) {
			return Actor{}, err
		}
		refused = refusal(place.Name, err)
	}
	if refused != nil {
		return Actor{}, refused
	}
	names := make([]string, len(o.schemes))
	for i, scheme := range o.schemes {
		names[i] = scheme.Place().Name
	}
	return Actor{}, httpapi.Errorf(httpapi.ErrUnauthenticated, "require a credential in %s, found none", strings.Join(names, " or "))
}

// refusal says where the credential was that proves nothing, and why.
func refusal(place string, err error) error {
	return httpapi.Errorf(httpapi.ErrUnauthenticated, "%s: %s", place, strings.TrimPrefix(err.Error(), auth.ErrRefused.Error()+": "))
}
