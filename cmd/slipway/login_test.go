package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client/contexts"
	"slipway/internal/platform/certificates"
	"slipway/internal/testing/httpclient"
)

// Attack: a service started with nothing but a folder takes no caller.
func TestFirstStartIsClosedAndLetsItsAdministratorIn(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir, home := dataFolder(t), t.TempDir()
	c := start(t, nil, "up", "--data-dir", dir)
	api := c.api(t)
	require.True(t, strings.HasPrefix(api, "https://127.0.0.1:"), api)

	for _, path := range []string{
		"/api/assisted-install/v2/clusters", "/api/assisted-install/v2/infra-envs", "/api/assisted-install/v2/events", "/temporal/",
		"/temporal-codec/decode", "/api/slipway/v1/os-images",
	} {
		code, answer := get(t, api+path)
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusMethodNotAllowed}, code, "%s: %s", path, answer)
	}
	code, answer := get(t, api+"/")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, answer, `"reference":"`+api+`/docs"`)
	plain, err := httpclient.New(t).Get(strings.Replace(api, "https://", "http://", 1) + "/health")
	require.NoError(t, err)
	defer plain.Body.Close()
	require.Equal(t, http.StatusBadRequest, plain.StatusCode, "nothing is served in clear")

	file, err := contexts.Read(filepath.Join(dir, contexts.AdminFile))
	require.NoError(t, err)
	admin, found := file.ByName("")
	require.True(t, found)
	require.Equal(t, api, admin.Server)
	require.Contains(t, c.said(), "the token of the administrator is in "+filepath.Join(dir, contexts.AdminFile)+": ")
	require.Contains(t, c.said(), "hosts on other machines do not reach "+api+": --listen ADDRESS:PORT or --base-url")
	require.NotContains(t, c.said(), admin.Token, "journals keep what a service prints")
	for _, name := range []string{contexts.AdminFile, "token.key", "keys", "tls/ca.key", "tls/server.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, name)
	}
	require.NotContains(t, c.stderr.String(), admin.Token)

	// On this machine nothing has to be said; elsewhere address, fingerprint and token do.
	here := []string{"SLIPWAY_DATA_DIR=" + dir, "HOME=" + home, "XDG_CONFIG_HOME=" + home}
	out, complaints, code := ran(t, here, "cluster", "list")
	require.Zero(t, code, complaints)
	require.Contains(t, out, "NAME")
	tokensOfUsers(t, here, api)
	elsewhere := []string{"SLIPWAY_DATA_DIR=", "HOME=" + home, "XDG_CONFIG_HOME=" + home}
	_, complaints, code = ran(t, elsewhere, "cluster", "list", "--url", api)
	require.Equal(t, 5, code)
	require.Contains(t, complaints, "certificate signed by unknown authority")

	authority, err := certificates.ParseCertificate(admin.Authority)
	require.NoError(t, err)
	fingerprint := fmt.Sprintf("%x", sha256.Sum256(authority.Raw))
	require.Contains(t, c.said(), "slipway login "+api+" --fingerprint "+fingerprint)
	withToken := slices.Concat(elsewhere, []string{"SLIPWAY_TOKEN=" + admin.Token})
	_, complaints, code = ran(t, withToken, "login", api, "--fingerprint", strings.Repeat("ab", 32))
	require.NotZero(t, code)
	require.Contains(t, complaints, "require an authority with the fingerprint abab")
	_, complaints, code = ran(t, append(elsewhere, "SLIPWAY_TOKEN=wrong"), "login", api, "--fingerprint", fingerprint)
	require.NotZero(t, code)
	require.Contains(t, complaints, "require a token that this service trusts")
	out, complaints, code = ran(t, withToken, "login", api, "--fingerprint", fingerprint, "--name", "lab")
	require.Zero(t, code, complaints)
	require.Contains(t, out, "context lab of "+filepath.Join(home, "slipway", "config"))
	_, complaints, code = ran(t, elsewhere, "cluster", "list")
	require.Zero(t, code, complaints)
	out, _, _ = ran(t, elsewhere, "context", "list")
	require.Regexp(t, `lab +https://127\.0\.0\.1:\d+ +current`, out)
	_, _, code = ran(t, elsewhere, "context", "delete", "lab")
	require.Zero(t, code)
	_, _, code = ran(t, elsewhere, "cluster", "list", "--url", api)
	require.Equal(t, 5, code)
}

// tokensOfUsers gives bob a token, and takes it away.
func tokensOfUsers(t *testing.T, here []string, api string) {
	t.Helper()
	token, notes, code := ran(t, here, "token", "create", "bob", "--org", "acme", "--note", "pipeline", "--expires", "1h")
	require.Zero(t, code, notes)
	require.Regexp(t, `^token [0-9a-f-]{36} of bob, role user, good until .*; it is shown once\n$`, notes)
	id := strings.Fields(notes)[1]
	bob := slices.Concat(here, []string{"SLIPWAY_TOKEN=" + strings.TrimSpace(token)})
	_, complaints, code := ran(t, bob, "cluster", "list")
	require.Zero(t, code, complaints)
	_, complaints, code = ran(t, bob, "token", "create", "eve", "--role", "admin")
	require.NotZero(t, code)
	require.Contains(t, complaints, "require a credential of the role admin for CreateToken, found user")
	out, complaints, code := ran(t, here, "token", "list")
	require.Zero(t, code, complaints)
	require.Regexp(t, id+` +bob +user +acme +20.*Z +[0-9ms]+ ago +admin +pipeline\n`, out)
	require.Regexp(t, ` +admin +admin +20.*admin\.config\n`, out)
	out, complaints, code = ran(t, here, "token", "revoke", id)
	require.Zero(t, code, complaints)
	require.Equal(t, "token "+id+" revoked\n", out)
	_, complaints, code = ran(t, bob, "cluster", "list", "--url", api)
	require.NotZero(t, code)
	require.Contains(t, complaints, "the token was revoked")
	_, complaints, code = ran(t, here, "token", "revoke", id)
	require.NotZero(t, code)
	require.Contains(t, complaints, "token "+id+" was not found")
	out, complaints, code = ran(t, here, "audit", "--no-headers")
	require.Zero(t, code, complaints)
	require.Regexp(t, `(?s) admin +CreateToken +ok 201 +`+id+`\n.* bob +CreateToken +refused 403\n.* admin +RevokeToken +ok 204 +`+id+
		`\n.* admin +RevokeToken +refused 404 +`+id+`\n$`, out)
	require.NotContains(t, out, strings.TrimSpace(token))
}

func TestServiceThatIsOpenSaysSo(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataFolder(t)
	c := start(t, []string{"AUTH_TYPE=none", "SLIPWAY_LISTEN=0.0.0.0:0", "SLIPWAY_BASE_URL=https://127.0.0.1:1"},
		"up", "--data-dir", dir, "--insecure-open")
	require.Contains(t, c.stderr.String(), "level=WARN msg=\"authentication is off: whoever reaches 0.0.0.0:0 has all clusters")
	require.NotContains(t, c.said(), "token of the administrator")
}

// Attack: whoever is on the way reads the token.
func TestLoginSendsNoTokenWithoutTLS(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	env := []string{"SLIPWAY_TOKEN=hunter2", "HOME=" + home, "XDG_CONFIG_HOME=" + home, "HTTP_PROXY=" + server.URL}
	_, complaints, code := ran(t, env, "login", "http://slipway.example.com")
	require.Equal(t, 2, code)
	require.Contains(t, complaints, "require an address of https, which does not show the token to the network, or --insecure, found "+
		`"http://slipway.example.com"`)
	require.Empty(t, sent)
	_, complaints, code = ran(t, env, "login", "http://slipway.example.com", "--insecure")
	require.Zero(t, code, complaints)
	require.Equal(t, "hunter2", <-sent, "who insists")
}
