package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/usertoken"
)

var (
	start   = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	envID   = uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c")
	otherID = uuid.MustParse("860a83fc-0331-4664-97de-c650a7c77e9b")
)

// lab is a service with keys of its own.
type lab struct {
	t       *testing.T
	private *ecdsa.PrivateKey
	now     time.Time
	keys    map[uuid.UUID]model.Secret
	// replaced is when the key of envID was replaced; zero: never.
	replaced time.Time
	users    usertoken.Book
	*auth.Local
}

func newLab(t *testing.T, mode auth.Mode) *lab {
	t.Helper()
	private := newKey(t, elliptic.P256())
	l := &lab{t: t, private: private, now: start, keys: map[uuid.UUID]model.Secret{envID: "key of the environment"}}
	options := auth.LocalOptions{
		Mode: mode, PrivateKey: model.Secret(privatePEM(t, private)), PublicKey: publicPEM(t, private), AgentTokens: auth.PerInfraEnv,
		Now: func() time.Time { return l.now }, User: l.users.Find,
		TokenKey: func(_ context.Context, id uuid.UUID) (model.Secret, error) {
			if key, known := l.keys[id]; known {
				return key, nil
			}
			return "", model.NotFoundf("no infra-env %s", id)
		},
		KeyReplaced: func(context.Context, uuid.UUID) (time.Time, error) { return l.replaced, nil },
	}
	if mode == auth.ModeAgentInstaller {
		options.PrivateKey, options.PublicKey = "", base64.StdEncoding.EncodeToString([]byte(options.PublicKey))
	}
	var err error
	l.Local, err = auth.NewLocal(options)
	require.NoError(t, err)
	return l
}

func newKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(t, err)
	return key
}

func privatePEM(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// openssl ecparam -genkey writes the curve first.
func TestKeysMayHaveTheirCurveBeforeThem(t *testing.T) {
	t.Parallel()
	key := newKey(t, elliptic.P256())
	curve := "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
	for _, private := range []string{curve + privatePEM(t, key), base64.StdEncoding.EncodeToString([]byte(curve + privatePEM(t, key)))} {
		l, err := auth.NewLocal(
			auth.LocalOptions{Mode: auth.ModeLocal, PrivateKey: model.Secret(private), PublicKey: publicPEM(t, key), Now: time.Now},
		)
		require.NoError(t, err)
		_, err = l.AgentToken(&model.InfraEnv{ID: envID})
		require.NoError(t, err)
	}
}

func publicPEM(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// sign makes a token as somebody with the key would.
func (l *lab) sign(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	l.t.Helper()
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	require.NoError(l.t, err)
	return text
}

func (l *lab) env() *model.InfraEnv { return &model.InfraEnv{ID: envID, TokenKey: l.keys[envID]} }

func TestOnlyModesThatThereAreAreTaken(t *testing.T) {
	t.Parallel()
	for _, mode := range auth.Modes {
		got, err := auth.ParseMode(string(mode))
		require.NoError(t, err)
		require.Equal(t, mode, got)
	}
	for _, text := range []string{"", "ocm", "Local"} {
		_, err := auth.ParseMode(text)
		require.ErrorContains(t, err, "require one of none, local, oidc, rhsso, agent-installer-local")
	}
}

func TestFaultsOfKeysNameTheirSettingAndNoKey(t *testing.T) {
	t.Parallel()
	key, other := newKey(t, elliptic.P256()), newKey(t, elliptic.P256())
	large := newKey(t, elliptic.P384())
	for name, c := range map[string]struct {
		mode            auth.Mode
		private, public string
		want            string
	}{
		"no public key":               {auth.ModeLocal, privatePEM(t, key), "", "EC_PUBLIC_KEY_PEM"},
		"a public key of another use": {auth.ModeLocal, privatePEM(t, large), publicPEM(t, large), "require curve P-256, found P-384"},
		"keys of two pairs": {
			auth.ModeLocal, privatePEM(t, other), publicPEM(t, key), "EC_PRIVATE_KEY_PEM does not belong to EC_PUBLIC_KEY_PEM",
		},
		"a private key that is no key": {auth.ModeLocal, "hunter2", publicPEM(t, key), "EC_PRIVATE_KEY_PEM: must be a private key"},
		"local without a private key":  {auth.ModeLocal, "", publicPEM(t, key), "EC_PRIVATE_KEY_PEM, which signs tokens of agents, is required"},
	} {
		_, err := auth.NewLocal(auth.LocalOptions{Mode: c.mode, PrivateKey: model.Secret(c.private), PublicKey: c.public, Now: time.Now})
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
}

func TestAgentOfAnEnvironmentIsKnownByItsToken(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	token, err := l.AgentToken(l.env())
	require.NoError(t, err)
	require.Equal(t, "[redacted]", token.Secret.String())
	l.now = start.AddDate(20, 0, 0)
	caller, err := l.Caller(t.Context(), auth.SchemeAgent, token.Secret.Reveal())
	require.NoError(t, err)
	require.Equal(t, envID, caller.InfraEnvID)
	require.True(t, caller.Bound())
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token.Secret.Reveal(), ".")[1])
	require.NoError(t, err)
	require.Contains(t, string(payload), `"infra_env_id":"`+envID.String()+`"`, "agents of other vendors read it")
}

func TestTokensThatProveNothingAreRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	claims := jwt.MapClaims{"infra_env_id": envID.String()}
	good := l.sign(jwt.SigningMethodES256, l.private, claims)
	parts := strings.Split(good, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"infra_env_id":"` + otherID.String() + `"}`))
	with := func(name string, value any) jwt.MapClaims {
		return jwt.MapClaims{"infra_env_id": envID.String(), name: value}
	}
	for name, c := range map[string]struct {
		scheme auth.Scheme
		token  string
		want   string
	}{
		"signed with another key": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, newKey(t, elliptic.P256()), claims), "signature is wrong",
		},
		"changed after it was signed": {auth.SchemeAgent, parts[0] + "." + forged + "." + parts[2], "signature is wrong"},
		"without a signature": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims), "signature is wrong",
		},
		"signed with the public key as HMAC": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodHS256, []byte(publicPEM(t, l.private)), claims), "signature is wrong",
		},
		"of a larger curve": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES384, newKey(t, elliptic.P384()), claims), "signature is wrong",
		},
		"expired": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, with("exp", start.Add(-time.Second).Unix())), "has expired",
		},
		"not valid yet": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, with("nbf", start.Add(time.Hour).Unix())), "not valid yet",
		},
		"of nothing": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{}), "require a token with one of the claims",
		},
		"of two things": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, with("cluster_id", otherID.String())),
			"require a token with one of the claims",
		},
		"of no UUID": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{"infra_env_id": "env"}), "require a UUID",
		},
		"of the zero UUID": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{"infra_env_id": uuid.Nil.String()}), "require a UUID",
		},
		"of air":                    {auth.SchemeAgent, "air", "cannot be read"},
		"an agent's as a user's":    {auth.SchemeUser, good, "auth_scheme userAuth"},
		"an agent's as a watcher's": {auth.SchemeWatcher, good, "takes no watcherAuth"},
		"an agent's as an image's":  {auth.SchemeImage, good, "require an image token"},
		"a user's as an agent's": {
			auth.SchemeAgent, l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{"auth_scheme": "userAuth"}), "claims infra_env_id",
		},
	} {
		_, err := l.Caller(t.Context(), c.scheme, c.token)
		require.ErrorIs(t, err, auth.ErrRefused, name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), c.token, name)
	}
}

func TestUserIsKnownByATokenOfTheServicesKey(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	for role, all := range map[auth.Role]bool{auth.RoleAdmin: true, auth.RoleViewer: true, auth.RoleUser: false} {
		token := l.users.Sign(t, l.Local, "ann", role, start.Add(time.Hour))
		for _, header := range []string{token, "Bearer " + token} {
			caller, err := l.Caller(t.Context(), auth.SchemeUser, header)
			require.NoError(t, err)
			require.Equal(t, "ann", caller.Name)
			require.Equal(t, role, caller.Role)
			require.Equal(t, all, caller.Admin)
			require.False(t, caller.Bound())
		}
	}
	token := l.users.Sign(t, l.Local, "ann", auth.RoleAdmin, start.Add(time.Hour))
	l.now = start.Add(2 * time.Hour)
	_, err := l.Caller(t.Context(), auth.SchemeUser, token)
	require.ErrorContains(t, err, "has expired")
}

// Attack: tokens that never end, and cannot be revoked.
func TestTokensOfUsersAreRevoked(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	token := l.users.Sign(t, l.Local, "ann", auth.RoleAdmin, start.Add(time.Hour))
	l.users.Revoke()
	_, err := l.Caller(t.Context(), auth.SchemeUser, token)
	require.ErrorContains(t, err, "was revoked")
	for name, claims := range map[string]jwt.MapClaims{
		"as before":      {"auth_scheme": "userAuth", "sub": "bob"},
		"with an expiry": {"auth_scheme": "userAuth", "sub": "bob", "exp": start.Add(time.Hour).Unix()},
		"with no id":     {"auth_scheme": "userAuth", "sub": "bob", "jti": "1"},
		"read-only":      {"auth_scheme": "userAuth", "sub": "bob", "read_only": true},
	} {
		_, err := l.Caller(t.Context(), auth.SchemeUser, l.sign(jwt.SigningMethodES256, l.private, claims))
		require.ErrorContains(t, err, "require a token of a user that this service knows", name)
	}
	unknown := l.users.Sign(t, l.Local, "ann", "owner", start.Add(time.Hour))
	_, err = l.Caller(t.Context(), auth.SchemeUser, unknown)
	require.ErrorContains(t, err, `require a token with one of the roles [admin user kube viewer], found "owner"`)
}

// Attack: a user of the database promotes a token, or moves it into another tenant.
func TestRowsOfTokensGiveNothingThatWasNotSigned(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.UserToken){
		"another role":         func(t *model.UserToken) { t.Role = "admin" },
		"another organization": func(t *model.UserToken) { t.OrgID = "acme" },
		"another user":         func(t *model.UserToken) { t.UserName = "admin" },
	} {
		l := newLab(t, auth.ModeLocal)
		token := l.users.Sign(t, l.Local, "bob", auth.RoleUser, start.Add(time.Hour))
		caller, err := l.Caller(t.Context(), auth.SchemeUser, token)
		require.NoError(t, err)
		require.Equal(t, "bob user", caller.Name+" "+string(caller.Role))
		l.users.Change(change)
		_, err = l.Caller(t.Context(), auth.SchemeUser, token)
		require.ErrorIs(t, err, auth.ErrRefused, name)
		require.ErrorContains(t, err, "is not as it was signed", name)
	}
	// A token of before has its role in the row alone, until it ends.
	l := newLab(t, auth.ModeLocal)
	l.users.Sign(t, l.Local, "bob", auth.RoleUser, start.Add(time.Hour))
	var id uuid.UUID
	l.users.Change(func(t *model.UserToken) { id = t.ID })
	before := l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{
		"auth_scheme": "userAuth", "sub": "bob", "jti": id.String(), "exp": start.Add(time.Hour).Unix(),
	})
	caller, err := l.Caller(t.Context(), auth.SchemeUser, before)
	require.NoError(t, err)
	require.Equal(t, auth.RoleUser, caller.Role)
}

func TestTokensOfTheAgentBasedInstallerAreTakenByTheirScheme(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeAgentInstaller)
	schemes := []auth.Scheme{auth.SchemeUser, auth.SchemeAgent, auth.SchemeWatcher}
	for _, scheme := range schemes {
		token := l.sign(jwt.SigningMethodES256, l.private, jwt.MapClaims{"auth_scheme": string(scheme)})
		for _, place := range schemes {
			caller, err := l.Caller(t.Context(), place, token)
			if place == scheme {
				require.NoError(t, err)
				require.False(t, caller.Bound())
			} else {
				require.ErrorIs(t, err, auth.ErrRefused)
			}
		}
		_, err := l.Caller(t.Context(), auth.SchemeURL, token)
		require.ErrorContains(t, err, "takes no urlAuth")
	}
	token, err := l.AgentToken(l.env())
	require.NoError(t, err)
	require.Empty(t, token.Secret, "agents have theirs from the installer")
	_, err = l.Token(auth.Grant{Scheme: auth.SchemeUser})
	require.ErrorContains(t, err, "EC_PRIVATE_KEY_PEM")
}

func TestAddressesOfImagesEndInTimeAndWithTheirKey(t *testing.T) {
	t.Parallel()
	for mode, c := range map[auth.Mode]struct {
		kind   auth.LinkKind
		scheme auth.Scheme
	}{
		auth.ModeLocal:          {auth.ByAPIKey, auth.SchemeURL},
		auth.ModeAgentInstaller: {auth.ByToken, auth.SchemeImageURL},
	} {
		l := newLab(t, mode)
		link, err := l.ImageLink(l.env(), time.Time{})
		require.NoError(t, err)
		require.Equal(t, c.kind, link.Kind)
		require.Equal(t, start.Add(4*time.Hour), link.ExpiresAt)
		caller, err := l.Caller(t.Context(), c.scheme, link.Value)
		require.NoError(t, err, mode)
		require.Equal(t, envID, caller.InfraEnvID)
		require.True(t, link.ExpiresAt.Equal(caller.ExpiresAt))
		for until, end := range map[time.Time]time.Time{
			start.Add(time.Minute): start.Add(time.Minute), start.Add(5 * time.Hour): start.Add(4 * time.Hour),
		} {
			shorter, err := l.ImageLink(l.env(), until)
			require.NoError(t, err)
			require.Equal(t, end, shorter.ExpiresAt)
		}
		_, err = l.Caller(t.Context(), auth.SchemeAgent, link.Value)
		require.ErrorIs(t, err, auth.ErrRefused, "who has the address of an image is no agent")
		l.now = start.Add(4*time.Hour + time.Second)
		_, err = l.Caller(t.Context(), c.scheme, link.Value)
		require.ErrorContains(t, err, "has expired")
		l.now = start
		l.keys[envID] = "another key"
		_, err = l.Caller(t.Context(), c.scheme, link.Value)
		require.ErrorIs(t, err, auth.ErrRefused, mode)
		delete(l.keys, envID)
		_, err = l.Caller(t.Context(), c.scheme, link.Value)
		require.ErrorContains(t, err, "there is no infra-env")
	}
	link, err := auth.None{}.ImageLink(&model.InfraEnv{ID: envID}, time.Time{})
	require.NoError(t, err)
	require.Equal(t, auth.ImageLink{Kind: auth.ByID, Value: envID.String()}, link)
}

func TestImageTokensThatProveNothingAreRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	expires := start.Add(time.Hour)
	good, err := auth.ImageToken(l.keys[envID], envID, expires)
	require.NoError(t, err)
	_, err = l.Caller(t.Context(), auth.SchemeImage, good)
	require.NoError(t, err)
	l.keys[otherID] = "key of another InfraEnv"
	other, err := auth.ImageToken(l.keys[envID], otherID, expires)
	require.NoError(t, err)
	l.keys[uuid.Max] = ""
	empty, err := auth.ImageToken("", uuid.Max, expires)
	require.NoError(t, err)
	key := []byte(l.keys[envID].Reveal())
	for name, token := range map[string]string{
		"of another InfraEnv's id":     other,
		"of an InfraEnv without a key": empty,
		"without an end":               l.sign(jwt.SigningMethodHS256, key, jwt.MapClaims{"sub": envID.String()}),
		"of another algorithm":         l.sign(jwt.SigningMethodHS512, key, jwt.MapClaims{"sub": envID.String(), "exp": expires.Unix()}),
		"without a signature": l.sign(
			jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"sub": envID.String(), "exp": expires.Unix()},
		),
		"without an InfraEnv": l.sign(jwt.SigningMethodHS256, key, jwt.MapClaims{"exp": expires.Unix()}),
		"of air":              "air",
	} {
		_, err := l.Caller(t.Context(), auth.SchemeImageURL, token)
		require.ErrorIs(t, err, auth.ErrRefused, name)
	}
}

func TestSignedAddressOpensOneFileForAWhile(t *testing.T) {
	t.Parallel()
	now := start
	a := auth.Addresses{Key: []byte("0123456789abcdef0123456789abcdef"), Now: func() time.Time { return now }}
	token := uuid.New()
	signature, err := a.Sign("/files?name=a", token, start.Add(time.Minute))
	require.NoError(t, err)
	verify := func(a auth.Addresses, address string) error {
		expires, by, err := a.Verify(address, signature)
		require.Equal(t, err == nil, expires.Equal(start.Add(time.Minute)))
		require.Equal(t, err == nil, by == token)
		return err
	}
	require.NoError(t, verify(a, "/files?name=a"))
	require.ErrorIs(t, verify(a, "/files?name=b"), auth.ErrRefused)
	other := auth.Addresses{Key: []byte("another key of thirty-two bytes."), Now: a.Now}
	require.ErrorIs(t, verify(other, "/files?name=a"), auth.ErrRefused)
	now = start.Add(2 * time.Minute)
	require.ErrorContains(t, verify(a, "/files?name=a"), "has expired")
}

func TestTokensOfTheSameKeyAndClaimsAreTheSame(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	first, err := l.AgentToken(l.env())
	require.NoError(t, err)
	again, err := l.AgentToken(l.env())
	require.NoError(t, err)
	require.Equal(t, first.Secret.Reveal(), again.Secret.Reveal(), "what a host boots with is compared byte by byte")
	other, err := l.AgentToken(&model.InfraEnv{ID: otherID})
	require.NoError(t, err)
	require.NotEqual(t, first.Secret.Reveal(), other.Secret.Reveal())

	restarted, err := auth.NewLocal(auth.LocalOptions{
		Mode: auth.ModeLocal, PrivateKey: model.Secret(privatePEM(t, l.private)), PublicKey: publicPEM(t, l.private), Now: time.Now,
		AgentTokens: auth.PerInfraEnv,
	})
	require.NoError(t, err)
	again, err = restarted.AgentToken(l.env())
	require.NoError(t, err)
	require.Equal(t, first.Secret.Reveal(), again.Secret.Reveal(), "with the keys of before")
}
