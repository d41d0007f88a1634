package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// tokenLife is how long a token of a user is good that was asked for without a time.
const tokenLife = 30 * 24 * time.Hour

// createToken makes a token of a user. Its answer is the only one with the token itself.
func (s *server) createToken(w http.ResponseWriter, r *http.Request) error {
	var params wire.UserTokenCreateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	now := s.Now().UTC()
	life := time.Duration(params.ExpirationSeconds) * time.Second
	if life == 0 {
		life = tokenLife
	}
	t := model.UserToken{
		ID: uuid.New(), UserName: params.UserName, OrgID: params.OrgID, Role: or(params.Role, string(auth.RoleUser)), Note: params.Note,
		CreatedBy: admission.CallerOf(r).Name, CreatedAt: now, ExpiresAt: now.Add(life).Truncate(time.Second),
	}
	token, err := s.Identity.UserToken(t)
	if errors.Is(err, auth.ErrNoUserTokens) {
		return model.Conflictf("the token cannot be made: %s", err)
	}
	if err != nil {
		return err
	}
	if err := s.Store.CreateToken(r.Context(), t); err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "token created", "token", t.ID, "user", t.UserName, "organization", t.OrgID, "role", t.Role,
		"expires", t.ExpiresAt, "by", t.CreatedBy)
	audit.Add(r.Context(), func(e *model.AuditEntry) { e.Subject = t.ID.String() })
	out := tokenToWire(t)
	out.Token = token.Reveal()
	return created(w, out)
}

// describeSignIn says where users get a token of the issuer, to anyone.
func (s *server) describeSignIn(w http.ResponseWriter, _ *http.Request) error {
	if s.SignIn == nil {
		return ok(w, wire.SignInAt{})
	}
	return ok(w, s.SignIn.Describe())
}

// signIn exchanges a token of the issuer for a token of this service. The service's own tokens are refused: exchanging them would
// extend them without an end.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) error {
	caller := admission.CallerOf(r)
	if s.SignIn == nil || caller.Issuer == "" {
		return model.Conflictf("a token of an issuer is required (AUTH_TYPE=oidc), not a token of this service")
	}
	t, token, err := s.SignIn.Begin(r.Context(), caller)
	if err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "user signed in", "user", t.UserName, "organization", t.OrgID, "role", t.Role, "token", t.ID)
	audit.Add(r.Context(), func(e *model.AuditEntry) { e.Subject = t.ID.String() })
	out := tokenToWire(t)
	out.Token = token.Reveal()
	return created(w, out)
}

// listTokens lists the valid tokens: all, or only the caller's.
func (s *server) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := s.Store.Tokens(r.Context(), tokensOf(admission.CallerOf(r), admission.CallerOf(r).Admin))
	if err != nil {
		return err
	}
	out := make([]wire.UserToken, len(tokens))
	for i, t := range tokens {
		out[i] = tokenToWire(t)
	}
	return ok(w, out)
}

// revokeToken ends a token: any for administrators, their own for the others.
func (s *server) revokeToken(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "token_id")
	if err != nil {
		return err
	}
	caller := admission.CallerOf(r)
	if err := s.Store.RevokeToken(r.Context(), id, tokensOf(caller, caller.Role == auth.RoleAdmin)); err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "token revoked", "token", id, "by", caller.Name)
	return noContent(w)
}

// listIssuerUsers lists the users of issuers who came.
func (s *server) listIssuerUsers(w http.ResponseWriter, r *http.Request) error {
	users, err := s.Store.IssuerUsers(r.Context())
	if err != nil {
		return err
	}
	out := make([]wire.IssuerUser, len(users))
	for i, u := range users {
		out[i] = wire.IssuerUser{Name: u.Name, Issuer: u.Issuer, Subject: u.Subject, CreatedAt: wire.DateTime(u.CreatedAt)}
	}
	return ok(w, out)
}

// forgetIssuerUser frees the name of a user of an issuer.
func (s *server) forgetIssuerUser(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("name")
	if err := s.Store.ForgetIssuerUser(r.Context(), name); err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "user of the issuer forgotten", "user", name, "by", admission.CallerOf(r).Name)
	return noContent(w)
}

// tokensOf narrows tokens to a caller's own, unless all is set.
func tokensOf(caller admission.Caller, all bool) store.TokenFilter {
	if all {
		return store.TokenFilter{}
	}
	return store.TokenFilter{UserName: caller.Name, OrgID: caller.OrgID}
}

func tokenToWire(t model.UserToken) wire.UserToken {
	out := wire.UserToken{
		ID: t.ID, UserName: t.UserName, OrgID: t.OrgID, Role: t.Role, Note: t.Note, CreatedBy: t.CreatedBy,
		CreatedAt: wire.DateTime(t.CreatedAt), ExpiresAt: wire.DateTime(t.ExpiresAt),
	}
	if !t.UsedAt.IsZero() {
		used := wire.DateTime(t.UsedAt)
		out.LastUsedAt = &used
	}
	return out
}
