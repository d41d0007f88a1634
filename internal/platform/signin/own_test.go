package signin_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/signin"
	"slipway/internal/testing/matrix"
)

// withOwn adds pages of own objects to a site. They show the token that they would ask the API with.
func withOwn(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	shown := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "own "+signin.TokenOf(r).Reveal())
	})
	own := s.gate.Own("/installations", func(path string) string {
		if id, found := strings.CutPrefix(path, "/temporal/workflows/"); found {
			return "/installations/" + id
		}
		return ""
	}).Pages(shown, shown)
	mux := http.NewServeMux()
	mux.Handle("/installations/", own)
	mux.Handle("/temporal/", s.pages)
	s.pages = mux
	return s
}

const browser = "Accept: text/html"

func TestUsersSignInToTheirOwnPages(t *testing.T) {
	t.Parallel()
	s := withOwn(t)
	answer := s.send(http.MethodGet, "/installations/", "", browser)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/temporal/login?returnUrl=%2Finstallations%2F", answer.Header.Get("Location"))

	for _, c := range []struct {
		role             auth.Role
		asked, led       string
		temporal, cookie int // status of Temporal's pages with the session, and cookies set
	}{
		{auth.RoleUser, "/temporal/namespaces/slipway/workflows", "/installations/", http.StatusSeeOther, 1},
		{
			auth.RoleUser, "/installations/5c1a7b8e-0000-4000-8000-000000000001?events=50",
			"/installations/5c1a7b8e-0000-4000-8000-000000000001?events=50",
			http.StatusSeeOther, 1,
		},
		{auth.RoleUser, "/temporal/workflows/5c1a", "/installations/5c1a", http.StatusSeeOther, 1},
		{auth.RoleAdmin, "/temporal/workflows/5c1a", "/temporal/workflows/5c1a", http.StatusOK, 2},
		{auth.RoleUser, "https://elsewhere.example/installations/../x", "/installations/", http.StatusSeeOther, 1},
		{auth.RoleAdmin, "/temporal/namespaces", "/temporal/namespaces", http.StatusOK, 2},
		{auth.RoleAdmin, "/installations/", "/installations/", http.StatusOK, 2},
		{auth.RoleViewer, "/elsewhere", "/temporal/", http.StatusOK, 2},
	} {
		token := s.userToken(c.role)
		answer, session := s.signIn(token, c.asked)
		require.Equal(t, http.StatusSeeOther, answer.StatusCode, c)
		require.Equal(t, c.led, answer.Header.Get("Location"), c)
		var paths []string
		for _, cookie := range answer.Cookies() {
			require.True(t, cookie.HttpOnly && cookie.Secure && cookie.SameSite == http.SameSiteStrictMode, c)
			paths = append(paths, cookie.Path)
		}
		require.Len(t, paths, c.cookie, c)
		require.Contains(t, paths, "/installations")
		require.Equal(t, c.role != auth.RoleUser, slices.Contains(paths, "/temporal"), c)
		answer = s.send(http.MethodGet, "/installations/", "", session)
		require.Equal(t, http.StatusOK, answer.StatusCode, c)
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
		require.Equal(t, "own "+token, text(t, answer), c)
		require.Equal(t, c.temporal, s.send(http.MethodGet, "/temporal/", "", session, browser).StatusCode, c)
	}
}

// A browser of a user is led from Temporal's pages to its own ones; programs get the refusal.
func TestUsersAreLedFromTemporalToTheirOwnPages(t *testing.T) {
	t.Parallel()
	s := withOwn(t)
	bearer := "Authorization: Bearer " + s.userToken(auth.RoleUser)
	answer := s.send(http.MethodGet, "/temporal/namespaces/slipway/workflows", "", bearer, browser)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/installations/", answer.Header.Get("Location"))
	answer = s.send(http.MethodGet, "/temporal/workflows/5c1a?x=y", "", bearer, browser)
	require.Equal(t, "/installations/5c1a", answer.Header.Get("Location"))
	require.Equal(t, http.StatusForbidden, s.send(http.MethodGet, "/temporal/api/v1/settings", "", bearer).StatusCode)
	require.Equal(t, http.StatusForbidden, s.send(http.MethodPost, "/temporal/namespaces", "", bearer, browser).StatusCode)
}

// Each credential but a user's, in each place, reaches no page.
func TestOwnPagesAreForUsersAlone(t *testing.T) {
	t.Parallel()
	s := withOwn(t)
	cells := &matrix.Cells{}
	for who, token := range map[string]string{
		"nothing":              "",
		"nonsense":             "x.y.z",
		"a watcher":            s.token(auth.Grant{Scheme: auth.SchemeWatcher}),
		"an agent":             s.token(auth.Grant{Scheme: auth.SchemeAgent}),
		"a cluster's token":    s.token(auth.Grant{ClusterID: uuid.New()}),
		"an InfraEnv's token":  s.token(auth.Grant{InfraEnvID: uuid.New()}),
		"the controllers' one": s.users.Sign(t, s.tokens, "hub", auth.RoleKube, s.now.Add(time.Hour)),
	} {
		for _, header := range []string{
			"Authorization: Bearer ", "X-Secret-Key: ", "Cookie: slipway_session=", "Watcher-Authorization: ", "Image-Token: ",
		} {
			for _, page := range []string{"/installations/", "/installations/5c1a7b8e-0000-4000-8000-000000000001"} {
				answer := s.send(http.MethodGet, page, "", header+token)
				refused := answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden
				cells.Denied(refused && !strings.HasPrefix(text(t, answer), "own"), "%s in %s at %s: %d", who, header, page, answer.StatusCode)
			}
		}
	}
	for _, header := range []string{"X-Secret-Key: ", "Cookie: slipway_session=", "Watcher-Authorization: ", "Image-Token: "} {
		answer := s.send(http.MethodGet, "/installations/", "", header+s.userToken(auth.RoleUser))
		cells.Denied(answer.StatusCode == http.StatusUnauthorized, "a user's token in %s: %d", header, answer.StatusCode)
	}
	for _, role := range []auth.Role{auth.RoleAdmin, auth.RoleUser, auth.RoleViewer} {
		answer := s.send(http.MethodGet, "/installations/", "", "Authorization: Bearer "+s.userToken(role))
		cells.Opened(answer.StatusCode == http.StatusOK, "%s: %d", role, answer.StatusCode)
	}
	cells.Report(t, 7*5*2+4+3)
}

// Signing out of one kind of pages ends the session of both.
func TestSignOutEndsBothSessions(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"/installations/logout", "/temporal/logout"} {
		s := withOwn(t)
		_, session := s.signIn(s.userToken(auth.RoleAdmin), "/temporal/")
		answer := s.send(http.MethodPost, place, "", session, "Origin: https://slipway.example")
		require.Equal(t, http.StatusSeeOther, answer.StatusCode)
		require.Equal(t, "/temporal/login", answer.Header.Get("Location"))
		require.Len(t, answer.Cookies(), 2)
		for _, page := range []string{"/installations/", "/temporal/"} {
			require.Equal(t, http.StatusUnauthorized, s.send(http.MethodGet, page, "", session).StatusCode, page)
		}
	}
	s := withOwn(t)
	_, session := s.signIn(s.userToken(auth.RoleUser), "/installations/")
	answer := s.send(http.MethodPost, "/installations/logout", "", session, "Sec-Fetch-Site: cross-site")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
}
