package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client/contexts"
	"slipway/internal/testing/issuer"
)

const v2 = "/api/assisted-install/v2"

// newSSOSite starts a service whose users come from Red Hat's single sign-on, and whose agents have pull secrets.
func newSSOSite(t *testing.T) *site {
	t.Helper()
	needPostgres(t)
	s := &site{t: t, at: issuer.New(t), dir: dataFolder(t)}
	programs := t.TempDir()
	for _, architecture := range []string{"amd64", "arm64"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, "slipway-agent-"+architecture), []byte("agent"), 0o600))
	}
	c := start(t, []string{
		"SLIPWAY_AGENT_BINARIES=" + programs,
		"SLIPWAY_LISTEN=127.0.0.1:0", "AUTH_TYPE=rhsso", "JWKS_URL=" + s.at.URL + "/keys", "JWKS_CA_FILE=" + s.issuerCA(),
		"ADMIN_USERS=boss", "ENABLE_ORG_TENANCY=true", "AGENT_TOKENS=infra-env",
	}, "up", "--data-dir", s.dir)
	s.api = c.api(t)
	file, err := contexts.Read(filepath.Join(s.dir, contexts.AdminFile))
	require.NoError(t, err)
	s.authority = file.Contexts[0].Authority
	return s
}

// send makes a request with a body of JSON and a credential in a header.
func (s *site) send(method, path, header, credential string, body any) (int, []byte) {
	s.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(s.t, err)
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.api+v2+path, bytes.NewReader(text))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(header, credential)
	answer, err := s.browser().Do(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return answer.StatusCode, content
}

func TestUsersAndAgentsOfTheExistingServiceHaveTheirOwnObjects(t *testing.T) {
	t.Parallel()
	s := newSSOSite(t)
	bearer := func(at *issuer.Issuer, user, org string) string {
		claims := map[string]any{"username": user, "org_id": org, "email": user + "@example.com"}
		return "Bearer " + at.Token("cloud-services", maps.Clone(claims))
	}
	secret := func(auth string) string { return `{"auths":{"cloud.openshift.com":{"auth":"` + auth + `"}}}` }
	infraEnv := func(user, org, auth string) uuid.UUID {
		status, body := s.send(http.MethodPost, "/infra-envs", "Authorization", bearer(s.at, user, org),
			map[string]any{"name": user, "pull_secret": secret(auth), "openshift_version": "4.22"})
		require.Equal(t, http.StatusCreated, status, "%s", body)
		var made struct{ ID uuid.UUID }
		require.NoError(t, json.Unmarshal(body, &made))
		return made.ID
	}
	const annsToken, bobsToken = "YW5uOnNlY3JldA==", "Ym9iOnNlY3JldA=="
	ann, bob := infraEnv("ann", "1", annsToken), infraEnv("bob", "2", bobsToken)

	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"her own":                        {bearer(s.at, "ann", "1"), http.StatusOK},
		"a colleague's":                  {bearer(s.at, "cat", "1"), http.StatusOK},
		"the administrator's":            {bearer(s.at, "boss", "9"), http.StatusOK},
		"another organization's":         {bearer(s.at, "bob", "2"), http.StatusNotFound},
		"one that another issuer signed": {bearer(issuer.New(t), "boss", "1"), http.StatusUnauthorized},
		"an agent's":                     {"Bearer " + annsToken, http.StatusUnauthorized},
	} {
		status, body := s.send(http.MethodGet, "/infra-envs/"+ann.String(), "Authorization", c.token, nil)
		require.Equal(t, c.status, status, "%s: %s", name, body)
	}
	register := func(env uuid.UUID, token string) int {
		status, _ := s.send(http.MethodPost, "/infra-envs/"+env.String()+"/hosts", "X-Secret-Key", token, map[string]any{"host_id": uuid.New()})
		return status
	}
	require.Equal(t, http.StatusCreated, register(ann, annsToken))
	require.Equal(t, http.StatusCreated, register(bob, bobsToken))
	require.Equal(t, http.StatusUnauthorized, register(bob, annsToken))
	require.Equal(t, http.StatusUnauthorized, register(ann, strings.TrimRight(annsToken, "=")))
	discovery := "/infra-envs/" + ann.String() + "/downloads/files?file_name=discovery.ign"
	status, body := s.send(http.MethodGet, discovery, "X-Secret-Key", annsToken, nil)
	require.Equal(t, http.StatusOK, status, "%s", body)
}
