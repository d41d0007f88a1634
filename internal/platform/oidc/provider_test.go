package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/oidc"
	"slipway/internal/testing/await"
	"slipway/internal/testing/issuer"
)

const redirect = "https://slipway.example:8090/temporal/callback"

func options(at *issuer.Issuer) oidc.Options {
	return oidc.Options{
		Issuer: at.URL, ClientID: "slipway", ClientSecret: "s3cret", Audiences: []string{"slipway-cli"}, Scopes: []string{"openid", "profile"},
		UserClaim: "preferred_username", UserPrefix: "oidc:", OrgClaim: "organization", RolesClaim: "realm_access.roles",
		Roles:       map[auth.Role][]string{auth.RoleAdmin: {"ops"}, auth.RoleUser: {"dev", "qa"}, auth.RoleViewer: {"audit"}},
		Authorities: at.Authority(), Skew: time.Minute, Now: time.Now,
	}
}

func open(t *testing.T, change func(*oidc.Options)) (*oidc.Provider, *issuer.Issuer) {
	t.Helper()
	at := issuer.New(t, issuer.Client{ID: "slipway", Secret: "s3cret", Redirects: []string{redirect}}, issuer.Client{ID: "slipway-cli"})
	o := options(at)
	if change != nil {
		change(&o)
	}
	p, err := oidc.New(o)
	require.NoError(t, err)
	return p, at
}

// person returns a user as Keycloak describes one.
func person(roles ...any) map[string]any {
	return map[string]any{"preferred_username": "ann", "organization": "acme", "realm_access": map[string]any{"roles": roles}}
}

func TestClaimsBecomeNamesOrganizationsAndRoles(t *testing.T) {
	t.Parallel()
	p, at := open(t, nil)
	for role, claims := range map[auth.Role]map[string]any{
		auth.RoleAdmin: person("audit", "ops", "dev"), auth.RoleUser: person("qa"), auth.RoleViewer: person("offline_access", "audit"),
	} {
		for _, audience := range []string{"slipway", "slipway-cli"} {
			caller, err := p.Caller(t.Context(), at.Token(audience, claims))
			require.NoError(t, err)
			require.Equal(t, auth.Caller{
				Name: "oidc:ann", OrgID: "acme", Role: role, Admin: role != auth.RoleUser, Scheme: auth.SchemeUser, Issuer: at.URL,
			}, caller)
		}
	}
	everyone, at := open(t, func(o *oidc.Options) {
		o.Roles, o.RolesClaim, o.OrgClaim, o.UserPrefix = map[auth.Role][]string{auth.RoleViewer: {"*"}}, "groups", "", ""
	})
	caller, err := everyone.Caller(t.Context(), at.Token("slipway", map[string]any{"preferred_username": "bob", "organization": "acme"}))
	require.NoError(t, err)
	require.Equal(t, "bob", caller.Name)
	require.Empty(t, caller.OrgID)
	require.Equal(t, auth.RoleViewer, caller.Role)
}

func TestTokensThatAreNotOfTheIssuerAreRefused(t *testing.T) {
	t.Parallel()
	p, at := open(t, nil)
	_, other := open(t, nil)
	with := func(name string, value any) map[string]any {
		claims := person("ops")
		claims[name] = value
		return claims
	}
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{
		"iss": at.URL, "aud": "slipway", "exp": time.Now().Add(time.Hour).Unix(), "preferred_username": "ann",
	}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	confused, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": at.URL, "aud": "slipway", "exp": time.Now().Add(time.Hour).Unix(), "preferred_username": "ann",
	}).SignedString(at.Authority())
	require.NoError(t, err)
	for name, c := range map[string]struct{ token, want string }{
		"for another service":       {at.Token("grafana", person("ops")), `require a token for slipway, found one for ["grafana"]`},
		"of another issuer":         {other.Token("slipway", person("ops")), "require a token of the issuer " + at.URL},
		"in its name":               {other.Token("slipway", with("iss", at.URL)), "require a token that the issuer signed"},
		"without a signature":       {unsigned, "require a token that the issuer signed"},
		"with a public key":         {confused, "require a token that the issuer signed"},
		"that has expired":          {at.Token("slipway", with("exp", time.Now().Add(-2*time.Minute).Unix())), "has expired"},
		"of the future":             {at.Token("slipway", with("nbf", time.Now().Add(time.Hour).Unix())), "nbf"},
		"without a role":            {at.Token("slipway", person("offline_access")), `gives a role here: ["offline_access"]`},
		"without any roles":         {at.Token("slipway", with("realm_access", "ops")), "gives a role here: none"},
		"without a name":            {at.Token("slipway", with("preferred_username", nil)), `in the claim preferred_username, found ""`},
		"with a name for terminals": {at.Token("slipway", with("preferred_username", "a\x1b[31m")), "require the name of the user"},
		"with an odd organization":  {at.Token("slipway", with("organization", " acme")), "require the name of one organization"},
	} {
		_, err := p.Caller(t.Context(), c.token)
		require.ErrorIs(t, err, auth.ErrRefused, name)
		require.ErrorContains(t, err, c.want, name)
	}
	// The clock of an issuer may be off by a minute.
	_, err = p.Caller(t.Context(), at.Token("slipway", with("exp", time.Now().Add(-30*time.Second).Unix())))
	require.NoError(t, err)
}

func TestAddressesOfMailAreNamesOnceTheyAreVerified(t *testing.T) {
	t.Parallel()
	p, at := open(t, func(o *oidc.Options) { o.UserClaim = "email" })
	claims := person("ops")
	claims["email"] = "ann@example.com" // an issuer that does not say has not verified it
	_, err := p.Caller(t.Context(), at.Token("slipway", claims))
	require.ErrorContains(t, err, "require an e-mail address that the issuer has verified")
	claims["email_verified"] = false
	_, err = p.Caller(t.Context(), at.Token("slipway", claims))
	require.ErrorContains(t, err, "require an e-mail address that the issuer has verified")
	claims["email_verified"] = true
	caller, err := p.Caller(t.Context(), at.Token("slipway", claims))
	require.NoError(t, err)
	require.Equal(t, "oidc:ann@example.com", caller.Name)
}

// clock is a time that tests move on from the present, which tokens of the issuer have.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

func TestKeysOfTheIssuerRotate(t *testing.T) {
	t.Parallel()
	var c clock
	p, at := open(t, func(o *oidc.Options) { o.Now = c.now })
	before := at.Token("slipway", person("ops"))
	for range 5 {
		_, err := p.Caller(t.Context(), before)
		require.NoError(t, err)
	}
	require.Equal(t, 1, at.KeysFetched())
	at.Rotate()
	after := at.Token("slipway", person("ops"))
	for range 200 { // also of someone who tries keys: the issuer is not asked before a minute is over
		_, err := p.Caller(t.Context(), after)
		require.ErrorIs(t, err, auth.ErrRefused)
	}
	require.Equal(t, 1, at.KeysFetched())
	c.pass(time.Minute + time.Second)
	// The library answers who asked for keys before it keeps them, and lets the next caller have that answer as well.
	await.True(t, func() bool {
		_, err := p.Caller(t.Context(), after)
		return err == nil
	}, "the new keys are not fetched")
	await.True(t, func() bool {
		_, err := p.Caller(t.Context(), before)
		return errors.Is(err, auth.ErrRefused)
	}, "accepted with a key that is not published any more")
	require.Equal(t, 2, at.KeysFetched())
}

// Attack: tokens without any validity while the issuer does not answer.
func TestIssuerThatIsSilentIsAskedOnceForAll(t *testing.T) {
	t.Parallel()
	_, at := open(t, nil)
	release, asked := make(chan struct{}), atomic.Int64{}
	handler := at.Config.Handler
	at.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			asked.Add(1)
			<-release
		}
		handler.ServeHTTP(w, r)
	})
	p, err := oidc.New(options(at))
	require.NoError(t, err)
	foreign, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": "x", "aud": "slipway"}).SignedString([]byte("key"))
	require.NoError(t, err)
	for _, bogus := range []string{foreign, at.Token("another", person("ops")), "x.y.z", ""} {
		_, err := p.Caller(t.Context(), bogus)
		require.ErrorIs(t, err, auth.ErrRefused, "without asking")
	}
	require.Zero(t, asked.Load())
	var users errgroup.Group
	token := at.Token("slipway", person("ops"))
	for range 20 {
		users.Go(func() error {
			_, err := p.Caller(t.Context(), token)
			return err
		})
	}
	await.True(t, func() bool { return asked.Load() == 1 }, "the issuer is not asked")
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Caller(impatient, token)
	require.ErrorIs(t, err, context.Canceled, "a caller that leaves waits for nothing")
	close(release)
	require.NoError(t, users.Wait())
	require.Equal(t, int64(1), asked.Load())
}

func TestOrganizationsHaveOneName(t *testing.T) {
	t.Parallel()
	p, at := open(t, nil)
	for _, c := range []struct {
		claim any
		want  string
		err   string
	}{
		{claim: "acme", want: "acme"},
		{claim: []any{"acme"}, want: "acme"},
		{claim: map[string]any{"acme": map[string]any{"id": "42"}}, want: "acme"}, // Keycloak's "organization"
		{claim: []any{}},
		{claim: ""},
		{claim: nil},
		{claim: []any{"acme", "initech"}, err: `found ["acme" "initech"]`},
		{claim: map[string]any{"acme": 1, "initech": 2}, err: `found ["acme" "initech"]`},
		{claim: []any{42}, err: "found other values"},
		{claim: 42, err: "found 42"},
		{claim: "a\nb", err: `found "a\nb"`},
	} {
		claims := person("dev")
		claims["organization"] = c.claim
		caller, err := p.Caller(t.Context(), at.Token("slipway", claims))
		if c.err != "" {
			require.ErrorIs(t, err, auth.ErrRefused)
			require.ErrorContains(t, err, "require the name of one organization in the claim organization, "+c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, caller.OrgID)
	}
}

func TestIssuerThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	_, at := open(t, nil)
	away := true
	handler := at.Config.Handler
	at.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	})
	var c clock
	o := options(at)
	o.Now = c.now
	p, err := oidc.New(o)
	require.NoError(t, err, "a service starts without it")
	token := at.Token("slipway", person("ops"))
	_, err = p.Caller(t.Context(), token)
	require.ErrorContains(t, err, "read the configuration of the issuer")
	require.NotErrorIs(t, err, auth.ErrRefused)
	away = false
	_, err = p.Caller(t.Context(), token)
	require.ErrorContains(t, err, "read the configuration of the issuer", "not for a second")
	c.pass(time.Second)
	_, err = p.Caller(t.Context(), token)
	require.NoError(t, err)
	away = true
	_, err = p.Caller(t.Context(), token)
	require.NoError(t, err, "by the keys that are known")
	at.Rotate()
	c.pass(time.Minute)
	_, err = p.Caller(t.Context(), at.Token("slipway", person("ops")))
	require.ErrorContains(t, err, "verify a token")
	require.NotErrorIs(t, err, auth.ErrRefused, "not the fault of the token")
}

func TestSettingsOfAnIssuerAreChecked(t *testing.T) {
	t.Parallel()
	_, at := open(t, nil)
	for want, change := range map[string]func(*oidc.Options){
		"OIDC_ISSUER_URL: require": func(o *oidc.Options) { o.Issuer = "http://sso.example.com" },
		"OIDC_CLIENT_ID, the name": func(o *oidc.Options) { o.ClientID = "" },
		"OIDC_ADMIN_ROLES, OIDC_USER_ROLES or OIDC_VIEWER_ROLES is required": func(o *oidc.Options) { o.Roles = nil },
		"OIDC_CA_FILE: no PEM certificate found":                             func(o *oidc.Options) { o.Authorities = []byte("x") },
	} {
		o := options(at)
		change(&o)
		_, err := oidc.New(o)
		require.ErrorContains(t, err, want)
	}
}

// The name may be changed at the issuer, also to another's. The subject may not.
func TestUsersAreKnownByTheirSubject(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	p, at := open(t, func(o *oidc.Options) {
		o.Name = func(_ context.Context, subject, name string) (string, error) {
			for other, taken := range names {
				if taken == name && other != subject {
					return "", model.Conflictf("the name %s belongs to another user of the issuer", name)
				}
			}
			if _, known := names[subject]; !known {
				names[subject] = name
			}
			return names[subject], nil
		}
	})
	as := func(subject, name string, roles ...any) (auth.Caller, error) {
		claims := person(roles...)
		claims["sub"], claims["preferred_username"] = subject, name
		return p.Caller(t.Context(), at.Token("slipway", claims))
	}
	_, err := as("0", "ann", "guests")
	require.ErrorIs(t, err, auth.ErrRefused)
	require.Empty(t, names, "who has no role takes no name")
	for _, name := range []string{"ann", "anna"} {
		caller, err := as("1", name, "ops")
		require.NoError(t, err)
		require.Equal(t, "oidc:ann", caller.Name)
	}
	_, err = as("2", "ann", "ops")
	require.ErrorIs(t, err, auth.ErrRefused)
	require.ErrorContains(t, err, "the name oidc:ann belongs to another user of the issuer, who came first")
	require.ErrorContains(t, err, "'slipway user forget'")
}
