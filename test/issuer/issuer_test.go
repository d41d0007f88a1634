// Package issuer has users of an issuer of OpenID Connect that others wrote sign in at the built service: with Chromium, and with the
// code of a device. The stand-in that other tests use is of our own making.
package issuer

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"slipway/test/built"
)

// site is an issuer, and a service whose users it has.
type site struct {
	t                    *testing.T
	issuer, service      string
	authority            string // of the issuer, PEM
	authorityFile, tools string
	serviceFile          string // certificates of the service
}

const secret = "s3cret-of-thirty-two-characters."

// users are the claims of the users by their login.
var users = map[string]map[string]any{
	"ann": {
		"preferred_username": "ann", "groups": []string{"staff", "ops"}, "organization": "acme", "email": "ann@example.com",
		"email_verified": true,
	},
	"carl": {"preferred_username": "carl", "groups": []string{"dev"}, "organization": "acme"},
	"eve":  {"preferred_username": "eve", "groups": []string{"guests"}},
}

func newSite(t *testing.T) *site {
	t.Helper()
	program := built.Binary(t)
	for _, name := range []string{"OIDC_PROVIDER", "PLAYWRIGHT", "CHROMIUM"} {
		if os.Getenv(name) == "" {
			t.Skip("SKIP: this test needs oidc-provider, playwright-core and Chromium (make run-issuer): " + name + " is not set")
		}
	}
	issuer, service := built.FreeAddress(t), built.FreeAddress(t)
	s := &site{t: t, issuer: "https://" + issuer, service: "https://" + service, tools: os.Getenv("PLAYWRIGHT")}
	s.startIssuer(issuer[strings.LastIndex(issuer, ":")+1:])
	dir := built.StartDemo(t, program, service,
		"AUTH_TYPE=oidc", "OIDC_ISSUER_URL="+s.issuer, "OIDC_CA_FILE="+s.authorityFile, "OIDC_CLIENT_ID=slipway", "OIDC_CLIENT_SECRET="+secret,
		"OIDC_CLI_CLIENT_ID=slipway-cli", "OIDC_SCOPES=openid,profile,email,groups", "OIDC_ORG_CLAIM=organization",
		"OIDC_ADMIN_ROLES=ops", "OIDC_USER_ROLES=dev")
	s.serviceFile = filepath.Join(t.TempDir(), "service.pem")
	require.NoError(t, os.WriteFile(s.serviceFile, built.Admin(t, dir).Authority, 0o600))
	return s
}

// startIssuer serves the issuer until the test ends, with a certificate of the machine's loopback address.
func (s *site) startIssuer(port string) {
	s.t.Helper()
	lent := httptest.NewTLSServer(http.NotFoundHandler())
	certificate := lent.TLS.Certificates[0]
	lent.Close()
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	require.NoError(s.t, err)
	s.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	s.authorityFile = filepath.Join(s.t.TempDir(), "issuer.pem")
	require.NoError(s.t, os.WriteFile(s.authorityFile, []byte(s.authority), 0o600))
	settings, err := json.Marshal(map[string]any{
		"key":         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"certificate": s.authority, "redirects": []string{s.service + "/temporal/callback"}, "users": users,
	})
	require.NoError(s.t, err)
	issuer := exec.Command("node", "provider.mjs", port)
	issuer.Stdin, issuer.Stderr = bytes.NewReader(settings), s.t.Output()
	issuer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := issuer.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, issuer.Start())
	s.t.Cleanup(func() {
		_ = issuer.Process.Kill()
		_ = issuer.Wait()
	})
	lines := bufio.NewScanner(said)
	require.True(s.t, lines.Scan(), "the issuer did not start")
	require.Equal(s.t, "ready", lines.Text())
}

// page is where a browser ended.
type page struct{ URL, Text string }

// browse has a person at a browser do something, see browser.mjs.
func (s *site) browse(what, address, login string) page {
	s.t.Helper()
	browser := exec.CommandContext(s.t.Context(), "node", "browser.mjs", what, address, login)
	browser.Stderr = s.t.Output()
	out, err := browser.Output()
	require.NoError(s.t, err, "%s as %s: %s", what, login, out)
	var p page
	require.NoError(s.t, json.Unmarshal(out, &p))
	return p
}

// slipway runs the command line, with files of its own.
func (s *site) slipway(home string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(s.t.Context(), built.Binary(s.t), arguments...)
	command.Env = append(command.Environ(), "HOME="+home, "SLIPWAY_DATA_DIR=", "SLIPWAY_CONFIG="+filepath.Join(home, "config"))
	return command
}

func TestUsersOfAnIssuerThatOthersWroteSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)

	p := s.browse("sign-in", s.service+"/temporal/", "ann")
	require.True(t, strings.HasPrefix(p.URL, s.service+"/temporal/"), "%v", p)
	require.NotContains(t, p.Text, "Sign in")
	p = s.browse("sign-in", s.service+"/temporal/", "carl")
	require.Equal(t, s.service+"/installations/", p.URL)
	require.Contains(t, p.Text, "There are no installations.")
	p = s.browse("sign-in", s.service+"/temporal/", "eve")
	require.Contains(t, p.Text, "no value of the claim groups gives a role here")

	for login, want := range map[string]string{"ann": ` oidc:ann +admin +acme `, "carl": ` oidc:carl +user +acme `} {
		home := t.TempDir()
		command := s.slipway(home, "login", s.service, "--device", "--ca-file", s.serviceFile, "--issuer-ca-file", s.authorityFile,
			"--name", "lab")
		said, err := command.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		lines := bufio.NewScanner(said)
		address := ""
		for address == "" && lines.Scan() {
			t.Log(lines.Text())
			if _, found, ok := strings.Cut(lines.Text(), "or open "); ok {
				address = found
			}
		}
		require.NotEmpty(t, address)
		s.browse("activate", address, login)
		for lines.Scan() {
			t.Log(lines.Text())
		}
		require.NoError(t, command.Wait(), login)
		out, err := s.slipway(home, "token", "list").CombinedOutput()
		require.NoError(t, err, string(out))
		require.Regexp(t, want, string(out))
		if login == "ann" {
			out, err := s.slipway(home, "user", "list").CombinedOutput()
			require.NoError(t, err, string(out))
			require.Regexp(t, `(?m)^oidc:ann +ann +`+regexp.QuoteMeta(s.issuer)+` `, string(out))
		}
	}
}

// A token that the same issuer made for another program is no token of the service.
func TestTokensForOtherProgramsOfTheIssuerAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for client, status := range map[string]int{"slipway-cli": http.StatusOK, "other": http.StatusUnauthorized} {
		require.Equal(t, status, s.list(s.idToken(client, "ann")), client)
	}
}

// idToken signs in with the code of a device, and returns the ID token.
func (s *site) idToken(client, login string) string {
	s.t.Helper()
	ctx := oidc.ClientContext(s.t.Context(), s.carrier(s.authority))
	found, err := oidc.NewProvider(ctx, s.issuer)
	require.NoError(s.t, err)
	config := oauth2.Config{ClientID: client, Endpoint: found.Endpoint(), Scopes: []string{"openid", "profile", "groups"}}
	code, err := config.DeviceAuth(ctx)
	require.NoError(s.t, err)
	s.browse("activate", code.VerificationURIComplete, login)
	answer, err := config.DeviceAccessToken(ctx, code)
	require.NoError(s.t, err)
	token, _ := answer.Extra("id_token").(string)
	require.NotEmpty(s.t, token)
	return token
}

// list lists the clusters with a token, and returns the status.
func (s *site) list(token string) int {
	s.t.Helper()
	authority, err := os.ReadFile(s.serviceFile)
	require.NoError(s.t, err)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.service+"/api/assisted-install/v2/clusters", nil)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := s.carrier(string(authority)).Do(r)
	require.NoError(s.t, err)
	defer response.Body.Close()
	return response.StatusCode
}

// carrier trusts an authority.
func (s *site) carrier(authority string) *http.Client {
	s.t.Helper()
	pool := x509.NewCertPool()
	require.True(s.t, pool.AppendCertsFromPEM([]byte(authority)))
	return &http.Client{Transport: &http.Transport{
		Proxy:           func(*http.Request) (*url.URL, error) { return nil, nil },
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
}
