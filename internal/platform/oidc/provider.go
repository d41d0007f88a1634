// Package oidc identifies users by the ID tokens of an issuer (OpenID Connect Core 1.0).
package oidc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// Options describe an issuer, and what its claims mean here.
type Options struct {
	Issuer       string // https://; its configuration is below it, at /.well-known/openid-configuration
	ClientID     string
	ClientSecret model.Secret // empty: a public client
	// Audiences are accepted beside ClientID.
	Audiences []string
	Scopes    []string
	// UserClaim is the name of the user, UserPrefix comes before it: without one, whoever chooses names at the issuer chooses whose
	// objects are theirs.
	UserClaim, UserPrefix string
	OrgClaim              string // empty: users have no organization
	// RolesClaim is a text or a list; with dots in its name it is inside of other claims (realm_access.roles).
	RolesClaim string
	// Roles are the values of RolesClaim that give a role of this service; "*" gives it to all users of the issuer.
	Roles map[auth.Role][]string
	// Authorities, PEM, are trusted beside the system's.
	Authorities []byte
	Skew        time.Duration // of the issuer's clock
	// Name returns the name that the user with a subject (sub) came with first; a model.ErrConflict when the name is another user's.
	// UserClaim may be changed at the issuer, the subject may not (OpenID Connect Core 1.0, section 5.7). nil: whatever UserClaim says.
	Name func(ctx context.Context, subject, name string) (string, error)
	Now  func() time.Time
}

// Provider verifies tokens of an issuer. It reads the issuer's configuration when it is needed first, and again until it succeeds: a
// service starts without its issuer.
type Provider struct {
	Options
	http *http.Client

	found atomic.Pointer[oidc.Provider]
}

// requestLimit is how long an issuer may take to answer.
const requestLimit = 20 * time.Second

// New checks the options; errors name the setting at fault.
func New(o Options) (*Provider, error) {
	issuer, err := url.Parse(o.Issuer)
	switch {
	case err != nil || issuer.Scheme != "https" || issuer.Host == "":
		return nil, fmt.Errorf("OIDC_ISSUER_URL: require the address of an issuer, https://..., found %q", o.Issuer)
	case o.ClientID == "":
		return nil, errors.New("OIDC_CLIENT_ID, the name of this service at the issuer, is required")
	case len(o.Roles[auth.RoleAdmin])+len(o.Roles[auth.RoleUser])+len(o.Roles[auth.RoleViewer]) == 0:
		return nil, errors.New("OIDC_ADMIN_ROLES, OIDC_USER_ROLES or OIDC_VIEWER_ROLES is required: " +
			"the values of the roles claim that give access")
	}
	transport, err := transportWith(o.Authorities)
	if err != nil {
		return nil, fmt.Errorf("OIDC_CA_FILE: %w", err)
	}
	return &Provider{Options: o, http: &http.Client{Transport: &calm{next: transport, now: o.Now}, Timeout: requestLimit}}, nil
}

// transportWith makes a transport that trusts authorities, PEM, beside the system's.
func transportWith(authorities []byte) (*http.Transport, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: requestLimit}
	if len(authorities) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the authorities of the system: %w", err)
		}
		if !pool.AppendCertsFromPEM(authorities) {
			return nil, errors.New("no PEM certificate found")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return transport, nil
}

// configuration of the issuer. Callers that need it at once share a request.
func (p *Provider) configuration(ctx context.Context) (*oidc.Provider, error) {
	if found := p.found.Load(); found != nil {
		return found, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.http), p.Issuer) // keeps the client of the context alone
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the issuer %s: %w", p.Issuer, err)
	}
	p.found.CompareAndSwap(nil, found) // one set of keys for all
	return p.found.Load(), nil
}

// check refuses a token that says itself that it is not for this service, before the issuer is asked for anything.
func (p *Provider) check(token string) error {
	var sent jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &sent); err != nil {
		return auth.Refusedf("require an ID token: it cannot be read")
	}
	switch {
	case sent.Issuer != p.Issuer:
		return auth.Refusedf("require a token of the issuer %s, found one of %q", p.Issuer, sent.Issuer)
	case !slices.ContainsFunc(sent.Audience, func(a string) bool { return a == p.ClientID || slices.Contains(p.Audiences, a) }):
		return auth.Refusedf("require a token for %s, found one for %q", p.ClientID, []string(sent.Audience))
	case sent.ExpiresAt == nil || !p.Now().Add(-p.Skew).Before(sent.ExpiresAt.Time):
		return auth.Refusedf("the token has expired")
	}
	return nil
}

// Caller returns the user of an ID token: an auth.ErrRefused for one that is not valid here.
func (p *Provider) Caller(ctx context.Context, token string) (auth.Caller, error) {
	caller, _, err := p.verify(ctx, token)
	return caller, err
}

// verify returns the user of an ID token, and the nonce in it.
func (p *Provider) verify(ctx context.Context, token string) (auth.Caller, string, error) {
	if err := p.check(token); err != nil {
		return auth.Caller{}, "", err
	}
	found, err := p.configuration(ctx)
	if err != nil {
		return auth.Caller{}, "", err
	}
	verified, err := found.Verifier(&oidc.Config{
		SkipClientIDCheck: true, Now: func() time.Time { return p.Now().Add(-p.Skew) },
	}).Verify(ctx, token)
	if err != nil {
		return auth.Caller{}, "", refusal(err)
	}
	var claims map[string]any
	if err := verified.Claims(&claims); err != nil {
		return auth.Caller{}, "", auth.Refusedf("the claims of the token cannot be read")
	}
	caller, err := p.user(claims)
	if err != nil || p.Name == nil {
		return caller, verified.Nonce, err
	}
	caller.Name, err = p.Name(ctx, verified.Subject, caller.Name)
	if errors.Is(err, model.ErrConflict) {
		err = auth.Refusedf("%s, who came first: an administrator can give it to this one with 'slipway user forget'", err)
	}
	return caller, verified.Nonce, err
}

// refusal says why a token is invalid; an issuer that cannot be asked for its keys is another error.
func refusal(err error) error {
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return auth.Refusedf("the token has expired")
	case strings.Contains(err.Error(), "fetching keys"):
		return fmt.Errorf("verify a token: %w", err)
	}
	return auth.Refusedf("require a token that the issuer signed: %s", strings.TrimPrefix(err.Error(), "oidc: "))
}

// config returns the settings of an OAuth 2.0 client of the issuer.
func (p *Provider) config(found *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Endpoint: found.Endpoint(), RedirectURL: redirect, Scopes: p.Scopes,
	}
}

// SignInAddress returns the address where a browser signs in (authorization code flow, with PKCE: RFC 7636).
func (p *Provider) SignInAddress(ctx context.Context, redirect, state, nonce, verifier string) (string, error) {
	found, err := p.configuration(ctx)
	if err != nil {
		return "", err
	}
	return p.config(found, redirect).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Redeem exchanges the code that a browser brought back for its user.
func (p *Provider) Redeem(ctx context.Context, redirect, code, nonce, verifier string) (auth.Caller, error) {
	found, err := p.configuration(ctx)
	if err != nil {
		return auth.Caller{}, err
	}
	answer, err := p.config(found, redirect).Exchange(oidc.ClientContext(ctx, p.http), code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" {
		return auth.Caller{}, auth.Refusedf("the issuer does not accept the code of this sign-in: begin again")
	}
	if err != nil {
		return auth.Caller{}, fmt.Errorf("exchange the code of a sign-in: %w", err)
	}
	token, _ := answer.Extra("id_token").(string)
	if token == "" {
		return auth.Caller{}, errors.New("exchange the code of a sign-in: the answer has no id_token (scope openid)")
	}
	caller, got, err := p.verify(ctx, token)
	if err == nil && got != nonce {
		return auth.Caller{}, auth.Refusedf("the token is of another sign-in")
	}
	return caller, err
}
