package oidc

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"slipway/internal/platform/auth"
)

// SSOOptions describe Red Hat's single sign-on, as AUTH_TYPE=rhsso knows it (docs/reference/auth.md, "Modes").
type SSOOptions struct {
	// KeysURL has the keys that sign tokens (JWKS, RFC 7517), https://; Keys is the same as a text. One of them.
	KeysURL, Keys string
	// Authorities, PEM, are trusted for KeysURL beside the system's.
	Authorities []byte
	// Admins are the names of users with the role admin; all others have the role user.
	Admins []string
	// Tenancy lets users share the objects of their organization.
	Tenancy bool
	Skew    time.Duration
	Now     func() time.Time
}

// SSO verifies tokens of Red Hat's single sign-on. It knows keys and claims, and neither an issuer nor an audience: the contract has none.
type SSO struct {
	SSOOptions
	keys oidc.KeySet
}

// NewSSO checks the options; errors name the setting at fault.
func NewSSO(o SSOOptions) (*SSO, error) {
	switch {
	case (o.KeysURL == "") == (o.Keys == ""):
		return nil, errors.New("require JWKS_URL or JWKS_CERT, the keys that sign tokens of users, and not both")
	case o.Keys != "":
		keys, err := staticKeys(o.Keys)
		return &SSO{o, keys}, err
	}
	address, err := url.Parse(o.KeysURL)
	if err != nil || address.Scheme != "https" || address.Host == "" {
		return nil, fmt.Errorf("JWKS_URL: require the address of keys, https://..., found %q", o.KeysURL)
	}
	next, err := transportWith(o.Authorities)
	if err != nil {
		return nil, fmt.Errorf("JWKS_CA_FILE: %w", err)
	}
	caller := &http.Client{Transport: &calm{next: next, now: o.Now}, Timeout: requestLimit}
	return &SSO{o, oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), caller), o.KeysURL)}, nil
}

// staticKeys reads a set of public keys.
func staticKeys(text string) (oidc.KeySet, error) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(text), &set); err != nil || len(set.Keys) == 0 {
		return nil, errors.New("JWKS_CERT: require a set of keys in JSON (RFC 7517), with at least one")
	}
	var all []crypto.PublicKey
	for _, key := range set.Keys {
		if !key.IsPublic() || !key.Valid() {
			return nil, fmt.Errorf("JWKS_CERT: require public keys, found another in %q", key.KeyID)
		}
		all = append(all, key.Key)
	}
	return &oidc.StaticKeySet{PublicKeys: all}, nil
}

// ssoClaims are the claims that the existing service reads. The name of a user is required.
type ssoClaims struct {
	Username  string           `json:"username"`
	Preferred string           `json:"preferred_username"`
	OrgID     any              `json:"org_id"`
	Expires   *jwt.NumericDate `json:"exp"`
	NotBefore *jwt.NumericDate `json:"nbf"`
}

// Caller returns the user of a token: an auth.ErrRefused for one that is not valid here.
func (s *SSO) Caller(ctx context.Context, token string) (auth.Caller, error) {
	var sent ssoClaims
	header, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil || header.Method.Alg() != jwt.SigningMethodRS256.Alg() {
		return auth.Caller{}, auth.Refusedf("require a token that is signed with RS256")
	}
	payload, err := s.keys.VerifySignature(ctx, token)
	if err != nil {
		return auth.Caller{}, refusal(err)
	}
	if err := json.Unmarshal(payload, &sent); err != nil {
		return auth.Caller{}, auth.Refusedf("require a token with claims in their format")
	}
	// A token that was issued in the future is accepted, as the existing service does.
	switch now := s.Now(); {
	case sent.Expires == nil || !now.Add(-s.Skew).Before(sent.Expires.Time):
		return auth.Caller{}, auth.Refusedf("the token has expired")
	case sent.NotBefore != nil && now.Add(s.Skew).Before(sent.NotBefore.Time):
		return auth.Caller{}, auth.Refusedf("the token is not valid yet")
	}
	return s.user(sent)
}

func (s *SSO) user(sent ssoClaims) (auth.Caller, error) {
	caller := auth.Caller{Name: sent.Username, Issuer: "rhsso", Scheme: auth.SchemeUser, Role: auth.RoleUser}
	if caller.Name == "" {
		caller.Name = sent.Preferred
	}
	if !name.MatchString(caller.Name) || len(caller.Name) > maxName {
		return caller, auth.Refusedf("require the name of the user in the claim username or preferred_username, found %q", caller.Name)
	}
	if s.Tenancy {
		org, err := organization(sent.OrgID)
		if err != nil {
			return caller, auth.Refusedf("require the name of one organization in the claim org_id, %v", err)
		}
		caller.OrgID = org
	}
	if slices.Contains(s.Admins, caller.Name) {
		caller.Role, caller.Admin = auth.RoleAdmin, true
	}
	return caller, nil
}
