// Package signin protects pages that know no users of their own: a caller signs in with a token of the service, and
// the browser keeps a session in a cookie.
package signin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
)

// Identity finds the owner of a credential; auth.Local implements it. Its errors are auth.ErrRefused for an invalid
// credential.
type Identity interface {
	Caller(ctx context.Context, scheme auth.Scheme, credential string) (auth.Caller, error)
}

// Issuer lets users sign in elsewhere (OpenID Connect, authorization code flow with PKCE). Its errors are auth.ErrRefused for a user
// who may not sign in.
type Issuer interface {
	// Name returns the name people know it by.
	Name() string
	// SignInAddress returns the address where a browser signs in; it comes back to redirect with state, and a code to Redeem with
	// nonce and verifier.
	SignInAddress(ctx context.Context, redirect, state, nonce, verifier string) (string, error)
	Redeem(ctx context.Context, redirect, code, nonce, verifier string) (auth.Caller, error)
	// Begin gives the user a token of this service.
	Begin(ctx context.Context, caller auth.Caller) (model.UserToken, model.Secret, error)
}

// sealedKind is the kind of values that sessions are encrypted as.
const sealedKind = "sessions"

// Sealer encrypts sessions; every process that serves the pages has the same keys.
type Sealer interface {
	Seal(kind string, plain, aad []byte) []byte
	Open(kind string, sealed, aad []byte) ([]byte, error)
}

// Options configure a Gate.
type Options struct {
	// Path is where the pages are mounted, without a slash at its end: the sessions are good below it only.
	Path string
	// BaseURL is the address of the service, which an issuer sends browsers back to.
	BaseURL  string
	Identity Identity
	Issuer   Issuer // nil: users have tokens only
	Sealer   Sealer
	// Secure keeps sessions from being sent without TLS.
	Secure bool
	// Audit records sign-ins.
	Audit *audit.Trail
	// Forbidden is called for a request of a user who may not see the pages, whom CallerOf returns; nil: nothing is.
	Forbidden func(r *http.Request)
	Log       *slog.Logger
	Now       func() time.Time
}

// Gate asks callers of pages for a token.
type Gate struct {
	Options
	crossOrigin *http.CrossOriginProtection
	sessions    *sessions
	// own is the gate of pages that show users their own objects; nil: there are none.
	own *Gate
	// page returns the page of own objects that shows the same as another page; empty: none does.
	page func(path string) string
	// main is the gate where users of own pages sign in; nil: this one is no gate of own pages.
	main *Gate
}

// sessions are shared by a gate and the gate of own pages: a user signs in and out of both at once.
type sessions struct {
	mu    sync.Mutex
	ended map[string]time.Time // sessions that were signed out of, until they expire
}

// New returns a gate.
func New(o Options) *Gate {
	return &Gate{Options: o, crossOrigin: http.NewCrossOriginProtection(), sessions: &sessions{ended: map[string]time.Time{}}}
}

// Own returns a gate of pages at a path that show users their own objects, whatever the pages of this gate show: it admits users of the
// roles admin, user and viewer, who sign in at this gate. Users who may see only those pages are sent there: to the page that shows the
// same as the one they asked for, as far as page knows it, else to the first one.
func (g *Gate) Own(path string, page func(path string) string) *Gate {
	own := &Gate{Options: g.Options, crossOrigin: g.crossOrigin, sessions: g.sessions, main: g, page: page}
	own.Path, own.Forbidden = path, nil
	g.own = own
	return own
}

// SignOutPath returns where a form signs a user out.
func (g *Gate) SignOutPath() string { return g.Path + signOutPath }

// admit returns errForbidden for a caller who may not see the pages.
func (g *Gate) admit(caller auth.Caller) error {
	switch {
	case caller.Bound():
		return errForbidden
	case g.main != nil && !slices.Contains([]auth.Role{auth.RoleAdmin, auth.RoleUser, auth.RoleViewer}, caller.Role):
		return errNoUser
	case g.main == nil && !caller.Admin:
		return errForbidden
	}
	return nil
}

// gates returns this gate and the gate of own pages, as far as they admit a caller.
func (g *Gate) gates(caller auth.Caller) (all []*Gate) {
	for _, one := range []*Gate{g, g.own} {
		if one != nil && one.admit(caller) == nil {
			all = append(all, one)
		}
	}
	return all
}

// Pages serves pages to users: writable to administrators, readOnly to users with a read-only token. A browser
// without a session is sent to sign in; every other request without a credential is answered with 401. Changes that
// a page of another origin sends are answered with 403.
//
// The credential is a token in the header Authorization, or a session.
func (g *Gate) Pages(writable, readOnly http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+g.Path+signOutPath, g.signOut)
	if g.main == nil {
		mux.HandleFunc("GET "+g.Path+signInPath, g.showForm)
		mux.HandleFunc("POST "+g.Path+signInPath, g.signIn)
	}
	if g.main == nil && g.Issuer != nil {
		mux.HandleFunc("GET "+g.Path+issuerPath, g.toIssuer)
		mux.HandleFunc("GET "+g.Path+callbackPath, g.fromIssuer)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		token, err := g.credential(r)
		caller := auth.Caller{}
		if err == nil {
			caller, err = g.owner(r.Context(), token)
		}
		if err != nil {
			if forbidden(err) && g.Forbidden != nil {
				g.Forbidden(withCaller(r, caller))
			}
			g.refuse(w, r, caller, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		serve(caller, writable, readOnly, w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, model.Secret(token))))
	})
	return g.crossOrigin.Handler(mux)
}

// Tokens serves requests with a user's token in the header Authorization, and no sessions.
func (g *Gate) Tokens(writable, readOnly http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := g.owner(r.Context(), auth.SchemeUser.Place().Of(r))
		if err != nil {
			g.fail(w, err)
			return
		}
		serve(caller, writable, readOnly, w, r)
	})
}

type (
	callerKey struct{}
	tokenKey  struct{}
)

// TokenOf returns the token of the user whose request Pages let through: of the header, or in the session.
func TokenOf(r *http.Request) model.Secret {
	token, _ := r.Context().Value(tokenKey{}).(model.Secret)
	return token
}

func withCaller(r *http.Request, caller auth.Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
}

// CallerOf returns the caller of a request that Pages or Tokens let through, and the credential of a request to a page.
func CallerOf(r *http.Request) (auth.Caller, model.AuditCredential) {
	caller, _ := r.Context().Value(callerKey{}).(auth.Caller)
	switch {
	case auth.SchemeUser.Place().Of(r) == "":
		return caller, model.AuditSession
	case caller.Issuer != "":
		return caller, model.AuditOIDC
	}
	return caller, model.AuditToken
}

func serve(caller auth.Caller, writable, readOnly http.Handler, w http.ResponseWriter, r *http.Request) {
	r = withCaller(r, caller)
	if caller.ReadOnly() {
		readOnly.ServeHTTP(w, r)
		return
	}
	writable.ServeHTTP(w, r)
}

// errNone: the request has no credential.
var errNone = errors.New("a token in the header Authorization, or a session, is required")

// credential returns the token of a request: in its header, or in its session.
func (g *Gate) credential(r *http.Request) (string, error) {
	if token := auth.SchemeUser.Place().Of(r); token != "" {
		return token, nil
	}
	session, err := g.session(r)
	return session.Token, err
}

// caller returns who sends a request.
func (g *Gate) caller(r *http.Request) (auth.Caller, error) {
	token, err := g.credential(r)
	if err != nil {
		return auth.Caller{}, err
	}
	return g.owner(r.Context(), token)
}

// owner returns the user of a token. A token of one object is no user's. A user who may not see the pages comes with errForbidden.
func (g *Gate) owner(ctx context.Context, token string) (auth.Caller, error) {
	caller, err := g.identify(ctx, token)
	if err == nil {
		err = g.admit(caller)
	}
	return caller, err
}

// identify returns the user of a token, whether the pages are for that user or not.
func (g *Gate) identify(ctx context.Context, token string) (auth.Caller, error) {
	if strings.TrimSpace(token) == "" {
		return auth.Caller{}, errNone
	}
	return g.Identity.Caller(ctx, auth.SchemeUser, token)
}

var (
	errForbidden = errors.New("require a token with access to every cluster")
	errNoUser    = errors.New("require a token of the role admin, user or viewer")
)

func forbidden(err error) bool { return errors.Is(err, errForbidden) || errors.Is(err, errNoUser) }

// refuse sends browsers that look for a page to the form, or a user to the pages of own objects.
func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, caller auth.Caller, err error) {
	page := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
	switch {
	case page && unauthenticated(err):
		form := url.URL{Path: g.formPath(), RawQuery: url.Values{returnParam: {r.URL.RequestURI()}}.Encode()}
		http.Redirect(w, r, form.String(), http.StatusSeeOther)
	case page && forbidden(err) && len(g.gates(caller)) > 0:
		http.Redirect(w, r, destinationIn(r.URL.Path, g.gates(caller)), http.StatusSeeOther)
	default:
		g.fail(w, err)
	}
}

// formPath returns the path of the form where users of this gate sign in.
func (g *Gate) formPath() string {
	if g.main != nil {
		return g.main.Path + signInPath
	}
	return g.Path + signInPath
}

func unauthenticated(err error) bool {
	return errors.Is(err, errNone) || errors.Is(err, auth.ErrRefused)
}

// fail answers as the API does (docs/reference/auth.md, "Errors of authentication").
func (g *Gate) fail(w http.ResponseWriter, err error) {
	status, message := http.StatusInternalServerError, "internal error"
	switch {
	case unauthenticated(err):
		status, message = http.StatusUnauthorized, reason(err)
	case forbidden(err):
		status, message = http.StatusForbidden, err.Error()
	default:
		g.Log.Error("credential not checked", "error", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": status, "message": message})
}

// reason returns why a credential is invalid.
func reason(err error) string { return strings.TrimPrefix(err.Error(), auth.ErrRefused.Error()+": ") }
