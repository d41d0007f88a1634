package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/store"
	"slipway/internal/testing/matrix"
	"slipway/internal/testing/pgtest"
	"slipway/internal/testing/usertoken"
)

// uiOf serves what a service with this identity puts beside its API. Its Temporal does not answer.
func uiOf(t *testing.T, identity identity) (*httptest.Server, *store.Store) {
	t.Helper()
	sealer, err := encryption.File{Path: filepath.Join(t.TempDir(), "keys")}.LoadOrCreate()
	require.NoError(t, err)
	temporal, err := frontend.Bundled("127.0.0.1:1", frontend.Certificates{})
	require.NoError(t, err)
	s := &Service{
		process: &process.Process{Now: time.Now}, logger: slog.New(slog.DiscardHandler),
		Temporal: temporal, identity: identity,
	}
	s.sealer = sealer
	s.store, err = store.Open(t.Context(), store.Options{URL: pgtest.Migrated(t, store.Migrate), Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.store.Close)
	routes := chi.NewRouter()
	require.NoError(t, s.mountUI(routes))
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return server, s.store
}

func localIdentity(t *testing.T) (*auth.Local, *usertoken.Book) {
	t.Helper()
	users := &usertoken.Book{}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	identity, err := auth.NewLocal(auth.LocalOptions{
		Mode: auth.ModeLocal, Now: time.Now, User: users.Find,
		PrivateKey: model.Secret(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})),
		PublicKey:  string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
	})
	require.NoError(t, err)
	return identity, users
}

// answer sends a request as a page of the server does, and returns the status and the body.
func answer(t *testing.T, c *http.Client, method, address, body string, header http.Header) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	if header != nil {
		request.Header = header
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func TestUIAsksForATokenWhereTheAPIDoes(t *testing.T) {
	t.Parallel()
	identity, users := localIdentity(t)
	server, _ := uiOf(t, identity)
	const plain = `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"Im9uIg=="}]}`
	for _, path := range []string{
		"/temporal", "/temporal/", "/temporal/api/v1/settings", "/temporal/codec/decode", "/temporal-codec/decode", "/temporal-codec/encode",
		"/installations", "/installations/", "/installations/5c1a7b8e-0000-4000-8000-000000000001",
	} {
		method := http.MethodGet
		if strings.Contains(path, "codec") {
			method = http.MethodPost
		}
		status, _ := answer(t, server.Client(), method, server.URL+path, plain, nil)
		require.Equal(t, http.StatusUnauthorized, status, path)
	}

	for name, c := range map[string]struct {
		role          auth.Role
		write, encode int
		settings      string
	}{
		// The frontend that would be asked is not there: 503 is its gateway's answer.
		"administrators read and write": {auth.RoleAdmin, http.StatusServiceUnavailable, http.StatusOK, `"DisableWriteActions":false`},
		"viewers read":                  {auth.RoleViewer, http.StatusForbidden, http.StatusForbidden, `"DisableWriteActions":true`},
	} {
		token := users.Sign(t, identity, "ann", c.role, time.Now().Add(time.Hour))
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		browser := &http.Client{Jar: jar}
		form := url.Values{"token": {token}, "returnUrl": {"/temporal/api/v1/settings"}}.Encode()
		status, settings := answer(t, browser, http.MethodPost, server.URL+"/temporal/login", form,
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
		require.Equal(t, http.StatusOK, status, name)
		require.Contains(t, settings, c.settings, name)
		require.Contains(t, settings, `"Endpoint":"/temporal/codec"`, name)

		status, _ = answer(t, browser, http.MethodPost, server.URL+"/temporal/codec/decode", plain, nil)
		require.Equal(t, http.StatusOK, status, name)
		status, _ = answer(t, browser, http.MethodPost, server.URL+"/temporal/codec/encode", plain, nil)
		require.Equal(t, c.encode, status, name)
		terminate := server.URL + "/temporal/api/v1/namespaces/slipway/workflows/cluster:1/terminate"
		status, body := answer(t, browser, http.MethodPost, terminate, "{}", nil)
		require.Equal(t, c.write, status, "%s: %s", name, body)

		bearer := http.Header{"Authorization": {"Bearer " + token}}
		status, _ = answer(t, server.Client(), http.MethodPost, server.URL+"/temporal-codec/decode", plain, bearer.Clone())
		require.Equal(t, http.StatusOK, status, name)
		status, _ = answer(t, server.Client(), http.MethodPost, server.URL+"/temporal-codec/encode", plain, bearer.Clone())
		require.Equal(t, c.encode, status, name)
	}
}

// Only administrators and viewers of everything reach pages that show workflows of other tenants, with a token in any place.
func TestUIIsForThoseWhoSeeEveryCluster(t *testing.T) {
	t.Parallel()
	identity, users := localIdentity(t)
	server, _ := uiOf(t, identity)
	object := func(g auth.Grant) string {
		token, err := identity.Token(g)
		require.NoError(t, err)
		return token.Reveal()
	}
	controller, err := identity.ControllerToken(uuid.New(), 1)
	require.NoError(t, err)
	cells := &matrix.Cells{}
	for who, c := range map[string]struct {
		token  string
		status int
	}{
		"a user of an organization": {users.Sign(t, identity, "carl", auth.RoleUser, time.Now().Add(time.Hour)), http.StatusForbidden},
		"the image of an InfraEnv":  {object(auth.Grant{InfraEnvID: uuid.New()}), http.StatusUnauthorized},
		"an address of a cluster":   {object(auth.Grant{ClusterID: uuid.New()}), http.StatusUnauthorized},
		"a controller":              {controller.Reveal(), http.StatusUnauthorized},
		"a watcher":                 {object(auth.Grant{Scheme: auth.SchemeWatcher}), http.StatusUnauthorized},
		"a token without an id":     {object(auth.Grant{Scheme: auth.SchemeUser, Name: "ann"}), http.StatusUnauthorized},
	} {
		for _, page := range []string{
			"GET /temporal/", "GET /temporal/api/v1/settings", "GET /temporal/api/v1/namespaces/slipway/workflows",
			"POST /temporal/api/v1/namespaces/slipway/workflows/cluster:1/signal/pause", "POST /temporal/codec/decode",
			"POST /temporal/codec/encode", "POST /temporal-codec/decode", "POST /temporal-codec/encode",
		} {
			method, path, _ := strings.Cut(page, " ")
			for header, value := range map[string]string{
				"Authorization": "Bearer " + c.token, "X-Secret-Key": c.token, "Cookie": "slipway_session=" + c.token, "Watcher-Authorization": c.token,
			} {
				status, body := answer(t, server.Client(), method, server.URL+path, "{}", http.Header{header: {value}})
				want := http.StatusUnauthorized
				if header == "Authorization" {
					want = c.status
				}
				cells.Denied(status == want, "%s: %s by %s: require %d, found %d %s", who, page, header, want, status, body)
			}
		}
	}
	cells.Report(t, 6*8*4)
}

// The addresses stand in statuses of Kubernetes for the life of a cluster.
func TestAddressesOfClusterAndHostLeadToTheirWorkflows(t *testing.T) {
	t.Parallel()
	identity, _ := localIdentity(t)
	server, _ := uiOf(t, identity)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{
		"/temporal/clusters/5c1a7b8e-0000-4000-8000-000000000001": "/temporal/namespaces/slipway/workflows/" +
			"cluster:5c1a7b8e-0000-4000-8000-000000000001",
		"/temporal/infra-envs/5c1a7b8e-0000-4000-8000-000000000002/hosts/5c1a7b8e-0000-4000-8000-000000000003": "/temporal/namespaces/" +
			"slipway/workflows/host:5c1a7b8e-0000-4000-8000-000000000002:5c1a7b8e-0000-4000-8000-000000000003",
		"/temporal/clusters/first":             "",
		"/temporal/clusters/%2e%2e%2f%2e%2e":   "",
		"/temporal/infra-envs/none/hosts/none": "",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.Header.Get("Location"), path)
		if want == "" {
			require.Equal(t, http.StatusNotFound, response.StatusCode, path)
		}
	}
}

// A user follows the address of a status of Kubernetes to the own page of the installation.
func TestUsersAreLedToThePageOfTheirInstallation(t *testing.T) {
	t.Parallel()
	identity, users := localIdentity(t)
	server, _ := uiOf(t, identity)
	token := users.Sign(t, identity, "carl", auth.RoleUser, time.Now().Add(time.Hour))
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	const cluster = "5c1a7b8e-0000-4000-8000-000000000001"
	workflow := "/temporal/namespaces/slipway/workflows/"
	for path, want := range map[string]string{
		"/temporal/clusters/" + cluster:                  workflow + "cluster:" + cluster,
		workflow + "cluster:" + cluster:                  "/installations/" + cluster,
		workflow + "cluster:" + cluster + "/run/history": "/installations/" + cluster,
		workflow + "cluster:first":                       "/installations/",
		workflow + "host:" + cluster + ":" + cluster:     "/installations/",
		"/temporal/": "/installations/",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/html")
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.Header.Get("Location"), path)
	}
}

// Commands by Temporal's pages are in the audit with their user, whatever comes of them; what pages read is not.
func TestCommandsByTheUIAreInTheAudit(t *testing.T) {
	t.Parallel()
	identity, users := localIdentity(t)
	server, tables := uiOf(t, identity)
	rows := func() []model.AuditEntry {
		list, err := tables.AuditEntries(t.Context(), store.AuditFilter{Limit: 100})
		require.NoError(t, err)
		return list
	}
	const (
		cluster = "5c1a7b8e-0000-4000-8000-000000000001"
		host    = "5c1a7b8e-0000-4000-8000-000000000002"
		env     = "5c1a7b8e-0000-4000-8000-000000000003"
	)
	workflow := server.URL + "/temporal/api/v1/namespaces/slipway/workflows/"
	signal := workflow + "host%3A" + env + "%3A" + host + "/signal/retry?note=hunter2"
	for role, want := range map[auth.Role]int{
		auth.RoleAdmin: http.StatusServiceUnavailable, auth.RoleViewer: http.StatusForbidden, auth.RoleUser: http.StatusForbidden,
	} {
		before := len(rows())
		bearer := http.Header{"Authorization": {"Bearer " + users.Sign(t, identity, "ann", role, time.Now().Add(time.Hour))}}
		for _, read := range []string{workflow + "cluster:" + cluster + "/query/state", server.URL + "/temporal/codec/decode"} {
			answer(t, server.Client(), http.MethodPost, read, "{}", bearer.Clone())
		}
		answer(t, server.Client(), http.MethodGet, workflow, "", bearer.Clone())
		require.Len(t, rows(), before, role)

		status, _ := answer(t, server.Client(), http.MethodPost, signal, `{"identity":"hunter2"}`, bearer.Clone())
		require.Equal(t, want, status, role)
		require.Len(t, rows(), before+1, role)
		row := rows()[0]
		require.Equal(t, []any{
			"ann", string(role), model.AuditToken, want, "temporal:workflows/signal", "/temporal/api/v1/namespaces/*/workflows/*/signal/*",
			"host:" + env + ":" + host + " retry", env, host,
		}, []any{
			row.UserName, row.Role, row.Credential, row.Status, row.Operation, row.Path, row.Subject, row.InfraEnvID.String(),
			row.HostID.String(),
		})
	}

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	form := url.Values{"token": {users.Sign(t, identity, "bob", auth.RoleAdmin, time.Now().Add(time.Hour))}}.Encode()
	answer(t, browser, http.MethodPost, server.URL+"/temporal/login", form, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	require.Equal(t, []string{"bob", "SignIn"}, []string{rows()[0].UserName, rows()[0].Operation})
	answer(t, browser, http.MethodPost, workflow+"cluster:"+cluster+"/terminate", "{}", nil)
	require.Equal(t, []any{"bob", model.AuditSession, cluster}, []any{rows()[0].UserName, rows()[0].Credential, rows()[0].ClusterID.String()})
}

func TestCommandsByTheOpenUIAreInTheAudit(t *testing.T) {
	t.Parallel()
	server, tables := uiOf(t, auth.None{})
	namespace := server.URL + "/temporal/api/v1/namespaces/slipway/"
	status, _ := answer(t, server.Client(), http.MethodDelete, namespace+"schedules/housekeeping%3Apurge", "", nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	list, err := tables.AuditEntries(t.Context(), store.AuditFilter{Limit: 100})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []any{"admin", model.AuditNone, "temporal:schedules", "housekeeping:purge"},
		[]any{list[0].UserName, list[0].Credential, list[0].Operation, list[0].Subject})

	tables.Close()
	status, body := answer(t, server.Client(), http.MethodPost, namespace+"workflows/a/terminate", "{}", nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "cannot record the command", "Temporal is not asked")
}
