package admission

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Identity finds the caller of a request.
type Identity interface {
	// Open reports that callers need no credential at all.
	Open() bool
	// Caller returns the owner of a credential of a scheme; auth.ErrRefused for an invalid one.
	Caller(ctx context.Context, scheme auth.Scheme, credential string) (auth.Caller, error)
}

// Caller is who calls an operation.
type Caller = auth.Caller

// Authorize decides whether a caller may do an operation (an operationId) to an object.
// It returns httpapi.ErrUnauthenticated or httpapi.ErrForbidden to refuse.
type Authorize func(ctx context.Context, caller Caller, operation string, object Object) error

type callerKey struct{}

// CallerOf returns the caller of a request.
func CallerOf(r *http.Request) Caller {
	caller, known := r.Context().Value(callerKey{}).(Caller)
	if !known {
		return Anyone
	}
	return caller
}

// Anyone is the caller of mode none, which accepts every request.
var Anyone = auth.Admin

// authorize checks that a caller may do an operation to its object. It returns httpapi.ErrForbidden or model.ErrNotFound to refuse.
func (g *Gate) authorize(r *http.Request, o *operation, caller Caller) error {
	if !g.o.Identity.Open() {
		if err := checkRole(caller, o.id); err != nil {
			return err
		}
	}
	object := objectOf(r, o)
	if err := g.o.Authorize(r.Context(), caller, o.id, object); err != nil || !rules[o.id].defines {
		return err
	}
	return g.checkDefines(r, object)
}

// SignatureParam is the query parameter with the signature of an address.
const SignatureParam = "signature"

// authenticate finds the caller. A signed address opens one file, in every mode; an invalid signature opens nothing.
func (g *Gate) authenticate(r *http.Request, o *operation) (Caller, error) {
	switch {
	case r.URL.Query().Has(SignatureParam):
		expires, err := g.o.CheckSignature(r)
		if err != nil {
			return Caller{}, refusal(SignatureParam, err)
		}
		caller := Anyone
		caller.ExpiresAt = expires
		return caller, nil
	case g.o.Identity.Open():
		return Anyone, nil
	}
	return g.identify(r, o)
}

// identify accepts the first valid credential of the schemes of the operation.
func (g *Gate) identify(r *http.Request, o *operation) (Caller, error) {
	var refused error
	object := objectOf(r, o)
	ctx := auth.WithTarget(r.Context(), object.InfraEnvID, object.ClusterID)
	for _, scheme := range o.schemes {
		place := scheme.Place()
		credential := place.Of(r)
		if credential == "" {
			continue
		}
		use := credentialUse{place.Name, credential, object.InfraEnvID, object.ClusterID}
		if err := g.refusals.of(use); err != nil {
			return Caller{}, err
		}
		caller, err := g.o.Identity.Caller(ctx, scheme, credential)
		if err == nil {
			if err = g.rates.use(caller); err != nil {
				g.refusals.add(use, err)
			}
			return caller, err
		}
		if !errors.Is(err, auth.ErrRefused) {
			return Caller{}, err
		}
		refused = refusal(place.Name, err)
	}
	if refused != nil {
		return Caller{}, g.rates.refused(r, refused)
	}
	names := make([]string, len(o.schemes))
	for i, scheme := range o.schemes {
		names[i] = scheme.Place().Name
	}
	return Caller{}, httpapi.Errorf(httpapi.ErrUnauthenticated, "a credential in %s is required", strings.Join(names, " or "))
}

// refusal returns the error of an invalid credential, with its place.
func refusal(place string, err error) error {
	return httpapi.Errorf(httpapi.ErrUnauthenticated, "%s: %s", place, strings.TrimPrefix(err.Error(), auth.ErrRefused.Error()+": "))
}
