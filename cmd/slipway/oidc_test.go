package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client/contexts"
	"slipway/internal/testing/issuer"
)

// site is a service whose users come from an issuer.
type site struct {
	t         *testing.T
	at        *issuer.Issuer
	api       string
	dir       string
	authority []byte
}

func newSite(t *testing.T) *site {
	t.Helper()
	needPostgres(t)
	s := &site{t: t, at: issuer.New(t, issuer.Client{ID: "slipway", Secret: "s3cret"}, issuer.Client{ID: "slipway-cli"}), dir: dataFolder(t)}
	c := start(t, []string{
		"SLIPWAY_LISTEN=127.0.0.1:0", "AUTH_TYPE=oidc", "OIDC_ISSUER_URL=" + s.at.URL, "OIDC_CA_FILE=" + s.issuerCA(),
		"OIDC_CLIENT_ID=slipway", "OIDC_CLIENT_SECRET=s3cret", "OIDC_CLI_CLIENT_ID=slipway-cli", "OIDC_ORG_CLAIM=organization",
		"OIDC_ADMIN_ROLES=ops", "OIDC_USER_ROLES=dev,qa", "OIDC_VIEWER_ROLES=audit",
	}, "up", "--data-dir", s.dir)
	s.api = c.api(t)
	s.at.Allow("slipway", s.api+"/temporal/callback")
	file, err := contexts.Read(filepath.Join(s.dir, contexts.AdminFile))
	require.NoError(t, err)
	s.authority = file.Contexts[0].Authority
	return s
}

func (s *site) issuerCA() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "issuer.pem")
	require.NoError(s.t, os.WriteFile(path, s.at.Authority(), 0o600))
	return path
}

// browser keeps cookies, and trusts service and issuer.
func (s *site) browser() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	pool := x509.NewCertPool()
	require.True(s.t, pool.AppendCertsFromPEM(s.authority))
	require.True(s.t, pool.AppendCertsFromPEM(s.at.Authority()))
	return &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

func (s *site) ask(c *http.Client, method, address string, headers ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, nil)
	require.NoError(s.t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.Do(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return answer.StatusCode, string(body)
}

func groups(values ...string) map[string]any {
	return map[string]any{"preferred_username": "ann", "organization": "acme", "groups": values}
}

var (
	signInLink = regexp.MustCompile(`<a class="button" href="([^"]+)"`)
	forward    = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]+)"`)
)

func TestUsersOfAnIssuerSignInWithABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser()
	enter := func(b *http.Client) (int, string) {
		status, form := s.ask(b, http.MethodGet, s.api+"/temporal/namespaces/slipway", "Accept", "text/html")
		require.Equal(t, http.StatusOK, status)
		link := signInLink.FindStringSubmatch(form)
		require.NotNil(t, link, form)
		return s.ask(b, http.MethodGet, s.api+html.UnescapeString(link[1]))
	}
	s.at.SignIn(groups("ops"))
	status, page := enter(b)
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "Signed in as oidc:ann")
	require.Equal(t, "/temporal/namespaces/slipway", forward.FindStringSubmatch(page)[1])
	status, settings := s.ask(b, http.MethodGet, s.api+"/temporal/api/v1/settings")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, settings, `"DisableWriteActions":false`)
	status, _ = s.ask(b, http.MethodGet, s.api+"/api/assisted-install/v2/clusters")
	require.Equal(t, http.StatusUnauthorized, status, "a session is no token of the API")

	for want, c := range map[string]struct {
		claims map[string]any
		status int
	}{
		`the issuer answers &#34;access_denied&#34; &#34;&lt;b&gt;the user went away&lt;/b&gt;&#34;`: {nil, http.StatusUnauthorized},
		"no value of the claim groups gives a role here":                                             {groups("staff"), http.StatusUnauthorized},
	} {
		s.at.SignIn(c.claims)
		other := s.browser()
		status, page = enter(other)
		require.Equal(t, c.status, status, want)
		require.Contains(t, page, want)
		status, _ = s.ask(other, http.MethodGet, s.api+"/temporal/api/v1/settings")
		require.Equal(t, http.StatusUnauthorized, status, want)
	}

	// A user who may not see the workflows of all is led to the own installations.
	s.at.SignIn(groups("dev"))
	dev := s.browser()
	status, page = enter(dev)
	require.Equal(t, http.StatusOK, status, page)
	require.Equal(t, "/installations/", forward.FindStringSubmatch(page)[1])
	status, page = s.ask(dev, http.MethodGet, s.api+"/installations/", "Accept", "text/html")
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "There are no installations.")
	status, page = s.ask(dev, http.MethodGet, s.api+"/installations/5c1a7b8e-0000-4000-8000-000000000001", "Accept", "text/html")
	require.Equal(t, http.StatusNotFound, status, page)
	require.Contains(t, page, "There is no such installation, or it is not yours.")
	status, _ = s.ask(dev, http.MethodGet, s.api+"/temporal/api/v1/settings")
	require.Equal(t, http.StatusUnauthorized, status)

	out, complaints, code := ran(t, []string{"SLIPWAY_DATA_DIR=" + s.dir, "HOME=" + t.TempDir()}, "audit", "--operation", "SignIn", "--wide")
	require.Zero(t, code, complaints)
	require.Regexp(t, ` oidc:ann +admin +oidc .* SignIn +ok 200 +[0-9a-f-]{36}\n`, out)
	require.Regexp(t, ` oidc:ann +user +oidc .* SignIn +ok 200 +[0-9a-f-]{36}\n`, out)

	// What another browser began, or nothing, is not finished here.
	status, page = s.ask(s.browser(), http.MethodGet, s.api+"/temporal/callback?code=x&state=y")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, page, "this browser has begun no sign-in")
	s.at.SignIn(groups("ops"))
	victim := s.browser()
	victim.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == strings.TrimPrefix(s.at.URL, "https://") {
			return http.ErrUseLastResponse
		}
		return nil
	}
	status, _ = s.ask(victim, http.MethodGet, s.api+"/temporal/sign-in")
	require.Equal(t, http.StatusSeeOther, status)
	status, page = s.ask(victim, http.MethodGet, s.api+"/temporal/callback?code=stolen&state=stolen")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, page, "of another sign-in")
}

func TestUsersOfAnIssuerUseTheAPIAndTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser()
	clusters := s.api + "/api/assisted-install/v2/clusters"
	status, body := s.ask(b, http.MethodGet, clusters, "Authorization", "Bearer "+s.at.Token("slipway", groups("dev")))
	require.Equal(t, http.StatusOK, status, body)
	status, body = s.ask(b, http.MethodGet, clusters, "Authorization", "Bearer "+s.at.Token("grafana", groups("ops")))
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "require a token for slipway")
	status, body = s.ask(b, http.MethodPost, s.api+"/api/slipway/v1/sign-in", "Authorization", "Bearer "+s.at.Token("slipway", groups("qa")))
	require.Equal(t, http.StatusCreated, status, body)
	var made struct{ Token, Role string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	require.Equal(t, "user", made.Role)
	status, _ = s.ask(b, http.MethodGet, clusters, "Authorization", "Bearer "+made.Token)
	require.Equal(t, http.StatusOK, status)
	status, body = s.ask(b, http.MethodPost, s.api+"/api/slipway/v1/sign-in", "Authorization", "Bearer "+made.Token)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "a token of an issuer is required")

	// Without a browser on this machine: with a code that is entered at the issuer.
	home := t.TempDir()
	trusted := filepath.Join(home, "service.pem")
	require.NoError(t, os.WriteFile(trusted, s.authority, 0o600))
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SLIPWAY_DATA_DIR="}
	login := exec.CommandContext(t.Context(), os.Args[0], "login", s.api, "--device", "--ca-file", trusted,
		"--issuer-ca-file", s.issuerCA(), "--name", "lab")
	login.Env = append(append(os.Environ(), commandEnv+"=1"), env...)
	said, err := login.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, login.Start())
	lines := bufio.NewScanner(said)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "open "+s.at.URL+"/activate in a browser, and enter the code ")
	code := lines.Text()[strings.LastIndex(lines.Text(), " ")+1:]
	require.True(t, s.at.Approve(code, groups("ops")), lines.Text())
	for lines.Scan() {
		t.Log(lines.Text())
	}
	require.NoError(t, login.Wait())
	out, complaints, exit := ran(t, env, "token", "list")
	require.Zero(t, exit, complaints)
	require.Regexp(t, ` oidc:ann +admin +acme +20.*Z .*`+regexp.QuoteMeta(s.at.URL)+` +sign-in\n`, out)
	require.Regexp(t, ` oidc:ann +user +acme `, out)

	// The administrator of the machine needs no issuer.
	_, complaints, exit = ran(t, []string{"SLIPWAY_DATA_DIR=" + s.dir, "HOME=" + t.TempDir()}, "cluster", "list")
	require.Zero(t, exit, complaints)
}
