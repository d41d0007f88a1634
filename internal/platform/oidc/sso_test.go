package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"maps"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/oidc"
	"slipway/internal/testing/issuer"
)

func openSSO(t *testing.T, at *issuer.Issuer, change func(*oidc.SSOOptions)) *oidc.SSO {
	t.Helper()
	o := oidc.SSOOptions{KeysURL: at.URL + "/keys", Authorities: at.Authority(), Admins: []string{"boss"}, Skew: time.Minute, Now: time.Now}
	if change != nil {
		change(&o)
	}
	s, err := oidc.NewSSO(o)
	require.NoError(t, err)
	return s
}

// employee returns a user as Red Hat's single sign-on describes one; the name stands in a claim of choice.
func employee(claim, name string) map[string]any {
	return map[string]any{
		claim: name, "org_id": "1234567", "email": "ann@example.com", "first_name": "Ann", "last_name": "Lee", "clientId": "cloud-services",
		"realm_access": map[string]any{"roles": []any{"admin"}},
	}
}

func TestSingleSignOnHasTheClaimsOfTheExistingService(t *testing.T) {
	t.Parallel()
	at := issuer.New(t)
	user := auth.Caller{Name: "ann", Role: auth.RoleUser, Issuer: "rhsso", Scheme: auth.SchemeUser}
	tenant, boss := user, user
	tenant.OrgID = "1234567"
	boss.Name, boss.Role, boss.Admin = "boss", auth.RoleAdmin, true
	both := employee("preferred_username", "other")
	both["username"] = "ann"
	future := employee("username", "ann")
	future["iat"] = time.Now().Add(time.Hour).Unix()
	for name, c := range map[string]struct {
		claims  map[string]any
		tenancy bool
		want    auth.Caller
	}{
		"username":                              {employee("username", "ann"), false, user},
		"preferred_username":                    {employee("preferred_username", "ann"), false, user},
		"username comes first":                  {both, false, user},
		"an organization where they share":      {employee("username", "ann"), true, tenant},
		"an administrator by name":              {employee("username", "boss"), false, boss},
		"a token that was issued in the future": {future, false, user},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSSO(t, at, func(o *oidc.SSOOptions) { o.Tenancy = c.tenancy })
			got, err := s.Caller(t.Context(), at.Token("cloud-services", c.claims))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestTokensThatSingleSignOnDidNotSignAreRefused(t *testing.T) {
	t.Parallel()
	at, other := issuer.New(t), issuer.New(t)
	s := openSSO(t, at, nil)
	with := func(name string, value any) map[string]any {
		claims := maps.Clone(employee("username", "boss"))
		claims[name] = value
		return claims
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	claims := jwt.MapClaims(with("exp", time.Now().Add(time.Hour).Unix()))
	ofAnotherKind, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(key)
	require.NoError(t, err)
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	for name, c := range map[string]struct{ token, says string }{
		"of another issuer":   {other.Token("x", employee("username", "boss")), "require a token that the issuer signed"},
		"of another kind":     {ofAnotherKind, "require a token that is signed with RS256"},
		"unsigned":            {unsigned, "require a token that is signed with RS256"},
		"ended":               {at.Token("x", with("exp", time.Now().Add(-time.Hour).Unix())), "the token has expired"},
		"without an end":      {at.Token("x", with("exp", nil)), "the token has expired"},
		"of later":            {at.Token("x", with("nbf", time.Now().Add(time.Hour).Unix())), "the token is not valid yet"},
		"without a name":      {at.Token("x", map[string]any{"email": "ann@example.com"}), "require the name of the user in the claim username"},
		"with a hostile name": {at.Token("x", employee("username", "a\nb")), "require the name of the user in the claim username"},
		"no token":            {"Zm9vOmJhcg==", "require a token that is signed with RS256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Caller(t.Context(), c.token)
			require.ErrorIs(t, err, auth.ErrRefused)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestKeysOfSingleSignOnAreATextOrAnAddress(t *testing.T) {
	t.Parallel()
	at := issuer.New(t)
	response, err := at.Client().Get(at.URL + "/keys")
	require.NoError(t, err)
	defer response.Body.Close()
	keys, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	s := openSSO(t, at, func(o *oidc.SSOOptions) { o.KeysURL, o.Keys = "", string(keys) })
	caller, err := s.Caller(t.Context(), at.Token("x", employee("username", "ann")))
	require.NoError(t, err)
	require.Equal(t, "ann", caller.Name)
	for says, o := range map[string]oidc.SSOOptions{
		"require JWKS_URL or JWKS_CERT":                  {},
		"and not both":                                   {Keys: string(keys), KeysURL: at.URL},
		"JWKS_CERT: require a set of keys":               {Keys: `{"keys":[]}`},
		"JWKS_CERT: require public keys":                 {Keys: `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"shared"}]}`},
		"JWKS_URL: require the address of keys, https:/": {KeysURL: "http://sso.example.com/keys"},
		"JWKS_CA_FILE: no PEM certificate found":         {KeysURL: at.URL, Authorities: []byte("text")},
	} {
		_, err := oidc.NewSSO(o)
		require.ErrorContains(t, err, says)
	}
}
