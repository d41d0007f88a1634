package signin_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/signin"
	"slipway/internal/testing/usertoken"
)

// site is pages behind a gate.
type site struct {
	t      *testing.T
	tokens *auth.Local
	users  usertoken.Book
	gate   *signin.Gate
	pages  http.Handler
	now    time.Time
	rows   rows
}

// rows is an audit in memory; full refuses rows.
type rows struct {
	full bool
	list []*model.AuditEntry
}

func (r *rows) BeginAudit(_ context.Context, e *model.AuditEntry) error {
	if r.full {
		return model.ErrUnavailable
	}
	e.Outcome = model.AuditUnknown
	r.list = append(r.list, e)
	return nil
}

func (r *rows) EndAudit(context.Context, *model.AuditEntry) error { return nil } // it has the row

func (r *rows) AddAudit(_ context.Context, e *model.AuditEntry) error {
	r.list = append(r.list, e)
	return nil
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, now: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	clock := func() time.Time { return s.now }
	s.tokens, err = auth.NewLocal(auth.LocalOptions{
		Mode: auth.ModeLocal, Now: clock, User: s.users.Find,
		PrivateKey: model.Secret(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})),
		PublicKey:  string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
	})
	require.NoError(t, err)
	s.replica()
	return s
}

// replica serves the same pages from another process.
func (s *site) replica() {
	s.t.Helper()
	sealer, err := encryption.New([]byte(strings.Repeat("k", encryption.KeySize)))
	require.NoError(s.t, err)
	s.gate = signin.New(signin.Options{
		Path: "/temporal", Identity: s.tokens, Sealer: sealer, Secure: true,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now },
		Audit: audit.New(&s.rows, slog.New(slog.DiscardHandler), time.Now),
	})
	s.pages = s.gate.Pages(says("writable"), says("read-only"))
}

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func (s *site) token(g auth.Grant) string {
	s.t.Helper()
	token, err := s.tokens.Token(g)
	require.NoError(s.t, err)
	return token.Reveal()
}

// userToken signs a token of ann or another user, for two days.
func (s *site) userToken(role auth.Role) string {
	s.t.Helper()
	name := map[auth.Role]string{auth.RoleAdmin: "ann", auth.RoleViewer: "bob", auth.RoleUser: "carl"}[role]
	return s.users.Sign(s.t, s.tokens, name, role, s.now.Add(48*time.Hour))
}

// send sends a request with headers, each "Name: value".
func (s *site) send(method, target, body string, headers ...string) *http.Response {
	s.t.Helper()
	request := httptest.NewRequestWithContext(s.t.Context(), method, "https://slipway.example"+target, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	s.pages.ServeHTTP(answer, request)
	return answer.Result()
}

// signIn sends the form, and returns the header with the session.
func (s *site) signIn(token, destination string) (*http.Response, string) {
	s.t.Helper()
	form := url.Values{"token": {token}, "returnUrl": {destination}}
	answer := s.send(http.MethodPost, "/temporal/login", form.Encode(),
		"Content-Type: application/x-www-form-urlencoded", "Origin: https://slipway.example")
	for _, cookie := range answer.Cookies() {
		return answer, "Cookie: " + cookie.Name + "=" + cookie.Value
	}
	return answer, "Cookie: none=none"
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

func TestCallersWithoutACredentialReachNoPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, header := range map[string]string{
		"none":                   "X-None: none",
		"a session of no user":   "Cookie: slipway_session=AAAA",
		"no token":               "Authorization: Bearer abc",
		"an agent's token":       "Authorization: " + s.token(auth.Grant{InfraEnvID: uuid.New()}),
		"a cluster's token":      "Authorization: " + s.token(auth.Grant{ClusterID: uuid.New()}),
		"a watcher's token":      "Authorization: " + s.token(auth.Grant{Scheme: auth.SchemeWatcher}),
		"an expired token":       "Authorization: " + s.users.Sign(t, s.tokens, "ann", auth.RoleAdmin, s.now.Add(-time.Minute)),
		"a token as the session": "Cookie: slipway_session=" + s.userToken(auth.RoleAdmin),
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			answer := s.send(method, "/temporal/api/v1/namespaces/slipway/workflows", "", header)
			require.Equal(t, http.StatusUnauthorized, answer.StatusCode, "%s: %s", name, method)
			var body struct {
				Code    int
				Message string
			}
			require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
			require.Equal(t, 401, body.Code)
			require.NotEmpty(t, body.Message, name)
		}
	}
}

func TestBrowsersAreSentToTheFormAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer := s.send(http.MethodGet, "/temporal/namespaces/slipway/workflows?query=a%3D1", "", "Accept: text/html,*/*")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	place, err := answer.Location()
	require.NoError(t, err)
	require.Equal(t, "/temporal/login", place.Path)
	wanted := place.Query().Get("returnUrl")

	form := s.send(http.MethodGet, place.RequestURI(), "", "Accept: text/html")
	require.Equal(t, http.StatusOK, form.StatusCode)
	require.Contains(t, form.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, text(t, form), `action="/temporal/login"`)

	answer, session := s.signIn(" "+s.userToken(auth.RoleAdmin)+"\n", wanted)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/temporal/namespaces/slipway/workflows?query=a%3D1", answer.Header.Get("Location"))
	cookie := answer.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.True(t, cookie.Secure)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "/temporal", cookie.Path)
	require.NotContains(t, cookie.Value, s.userToken(auth.RoleAdmin)[:20], "the API would accept it")
	require.Equal(t, "writable", text(t, s.send(http.MethodGet, "/temporal/namespaces", "", session)))
	require.Contains(t, text(t, s.send(http.MethodGet, "/temporal/login", "", session)), "Signed in as ann")
}

func TestRefusedTokensBeginNoSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for token, reason := range map[string]string{
		"":    "a token is required",
		"abc": "it cannot be read",
		s.token(auth.Grant{ClusterID: uuid.New()}): "auth_scheme",
	} {
		answer, _ := s.signIn(token, "")
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
		require.Empty(t, answer.Cookies())
		require.Contains(t, text(t, answer), reason)
	}
	long, _ := s.signIn(strings.Repeat("x", 1<<20), "")
	require.Equal(t, http.StatusUnauthorized, long.StatusCode)
}

func TestFormLeadsToNoOtherSite(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for asked, want := range map[string]string{
		"":                                     "/temporal/",
		"https://evil.example/":                "/temporal/",
		"//evil.example/temporal":              "/temporal/",
		"//evil.example/temporal/x":            "/temporal/x", // only the path is taken
		"/temporal/../v2/clusters":             "/temporal/",
		"/v2/clusters":                         "/temporal/",
		"javascript:alert(1)":                  "/temporal/",
		"/temporal/login":                      "/temporal/",
		"https://slipway.example/temporal/a?b": "/temporal/a?b", // as Temporal's pages ask
	} {
		answer, _ := s.signIn(s.userToken(auth.RoleAdmin), asked)
		require.Equal(t, want, answer.Header.Get("Location"), asked)
	}
}

func TestViewersGetPagesToRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, session := s.signIn(s.userToken(auth.RoleViewer), "")
	require.Equal(t, "read-only", text(t, s.send(http.MethodGet, "/temporal/", "", session)))
	require.Equal(t, "read-only", text(t, s.send(http.MethodPost, "/temporal/api/v1/x", "", session)))
	viewer, admin := "Authorization: Bearer "+s.userToken(auth.RoleViewer), "Authorization: Bearer "+s.userToken(auth.RoleAdmin)
	require.Equal(t, "read-only", text(t, s.send(http.MethodPost, "/temporal/api/v1/x", "", viewer)))
	require.Equal(t, "writable", text(t, s.send(http.MethodPost, "/temporal/api/v1/x", "", admin)))
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	status := func(session string) int { return s.send(http.MethodGet, "/temporal/", "", session).StatusCode }
	_, session := s.signIn(s.userToken(auth.RoleAdmin), "")
	_, other := s.signIn(s.userToken(auth.RoleAdmin), "")
	answer := s.send(http.MethodPost, "/temporal/logout", "", session, "Origin: https://slipway.example")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Negative(t, answer.Cookies()[0].MaxAge)
	require.Equal(t, http.StatusUnauthorized, status(session), "a copy of the cookie is no session")
	require.Equal(t, http.StatusOK, status(other))
	s.replica()
	require.Equal(t, http.StatusOK, status(other), "replicas know each other's sessions")

	_, brief := s.signIn(s.users.Sign(t, s.tokens, "ann", auth.RoleAdmin, s.now.Add(time.Hour)), "")
	s.now = s.now.Add(2 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, status(brief), "with its token")
	require.Equal(t, http.StatusOK, status(other))
	s.now = s.now.Add(10 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, status(other), "after twelve hours")
	_, last := s.signIn(s.userToken(auth.RoleAdmin), "")
	require.Equal(t, http.StatusOK, status(last))
	s.users.Revoke()
	require.Equal(t, http.StatusUnauthorized, status(last), "with a token that is revoked")
}

func TestUsersOfAnOrganizationReachNoPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.userToken(auth.RoleUser)
	require.Equal(t, http.StatusForbidden, s.send(http.MethodGet, "/temporal/api/v1/x", "", "Authorization: "+token).StatusCode)
	answer, _ := s.signIn(token, "")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.Empty(t, answer.Cookies())
	require.Contains(t, text(t, answer), "require a token with access to every cluster")
	s.pages = s.gate.Tokens(says("writable"), says("read-only"))
	require.Equal(t, http.StatusForbidden, s.send(http.MethodPost, "/temporal-codec/decode", "", "Authorization: "+token).StatusCode)
}

func TestOtherSitesChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, session := s.signIn(s.userToken(auth.RoleAdmin), "")
	for name, header := range map[string]string{
		"by its origin":                     "Origin: https://evil.example",
		"by its origin on another port":     "Origin: https://slipway.example:9",
		"by what the browser says":          "Sec-Fetch-Site: cross-site",
		"another service of the same owner": "Sec-Fetch-Site: same-site",
	} {
		for _, target := range []string{"/temporal/api/v1/namespaces/slipway/workflows/x/terminate", "/temporal/login", "/temporal/logout"} {
			require.Equal(t, http.StatusForbidden, s.send(http.MethodPost, target, "", session, header).StatusCode, "%s: %s", name, target)
		}
	}
	own := s.send(http.MethodPost, "/temporal/api/v1/x", "", session, "Origin: https://slipway.example")
	require.Equal(t, "writable", text(t, own))
}

func TestTokensTakeNoSessions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, session := s.signIn(s.userToken(auth.RoleAdmin), "")
	s.pages = s.gate.Tokens(says("writable"), says("read-only"))
	require.Equal(t, http.StatusUnauthorized, s.send(http.MethodPost, "/temporal-codec/decode", "", session).StatusCode)
	require.Equal(t, "writable", text(t, s.send(http.MethodPost, "/temporal-codec/decode", "", "Authorization: "+s.userToken(auth.RoleAdmin))))
	viewer := "Authorization: " + s.userToken(auth.RoleViewer)
	require.Equal(t, "read-only", text(t, s.send(http.MethodPost, "/temporal-codec/decode", "", viewer)))
}

func TestSignInsAreInTheAudit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer, _ := s.signIn(s.userToken(auth.RoleAdmin), "")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Len(t, s.rows.list, 1)
	row := s.rows.list[0]
	require.Equal(t, []any{"ann", "SignIn", model.AuditOK, 303, model.AuditToken},
		[]any{row.UserName, row.Operation, row.Outcome, row.Status, row.Credential})
	require.NotNil(t, row.TokenID)

	answer, _ = s.signIn(s.userToken(auth.RoleUser), "")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.Len(t, s.rows.list, 2)
	require.Equal(t, []any{"carl", model.AuditRefused, 403}, []any{s.rows.list[1].UserName, s.rows.list[1].Outcome, s.rows.list[1].Status})

	for _, token := range []string{"", "abc", s.token(auth.Grant{ClusterID: uuid.New()})} {
		s.signIn(token, "")
	}
	require.Len(t, s.rows.list, 2, "of no user")

	s.rows.full = true
	answer, _ = s.signIn(s.userToken(auth.RoleAdmin), "")
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.Empty(t, answer.Cookies(), "no session without a row")
}
