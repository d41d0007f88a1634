package api_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
)

// local is a service whose callers need tokens. The helpers of service still work: they go to a second service on the same data that
// admits every caller.
type local struct {
	*service
	tokens *auth.Local
	closed *service
}

func newLocal(t *testing.T, mode auth.Mode, change ...func(*api.Options)) *local {
	t.Helper()
	l := &local{}
	var options api.Options
	l.service = newService(t, func(o *api.Options) { options = *o })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, public := keyPair(t, key)
	l.tokens, err = auth.NewLocal(auth.LocalOptions{
		Mode: mode, Now: time.Now, TokenKey: l.store.TokenKey, KeyReplaced: l.store.KeyReplaced, AgentTokens: auth.PerInfraEnv,
		User:       func(ctx context.Context, id uuid.UUID) (model.UserToken, error) { return l.store.UseToken(ctx, id) },
		PrivateKey: model.Secret(private), PublicKey: public,
	})
	require.NoError(t, err)
	options.Identity = l.tokens
	for _, c := range change {
		c(&options)
	}
	l.closed = &service{
		t: t, url: serve(t, options), store: l.store, blob: l.blob, logged: l.logged, orchestrator: l.orchestrator, tags: l.tags,
	}
	return l
}

// keyPair encodes a key and its public half in PEM.
func keyPair(t *testing.T, key *ecdsa.PrivateKey) (private, public string) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	private = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	der, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return private, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func (l *local) token(g auth.Grant) string {
	l.t.Helper()
	if g.Scheme == auth.SchemeUser && l.tokens.Mode == auth.ModeLocal {
		role := "admin"
		if g.ReadOnly {
			role = "viewer"
		}
		return l.userToken(model.UserToken{UserName: cmp.Or(g.Name, "admin"), Role: role})
	}
	token, err := l.tokens.Token(g)
	require.NoError(l.t, err)
	return token.Reveal()
}

// userToken makes a token of a user that the service knows; it is good for an hour.
func (l *local) userToken(t model.UserToken) string {
	l.t.Helper()
	t.ID, t.CreatedBy, t.CreatedAt, t.ExpiresAt = uuid.New(), "test", time.Now(), time.Now().Add(time.Hour)
	require.NoError(l.t, l.store.CreateToken(l.t.Context(), t))
	token, err := l.tokens.UserToken(t)
	require.NoError(l.t, err)
	return token.Reveal()
}

func TestAgentsReachTheirEnvironmentAndTheClustersOfItsHosts(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, other := l.cluster(nil), l.cluster(map[string]any{"name": "other"})
	e, late, foreign := l.infraEnv(c.ID), l.infraEnv(uuid.Nil), l.infraEnv(other.ID)
	h, foreignHost := l.host(e.ID), l.host(foreign.ID)
	own := []string{"X-Secret-Key", l.token(auth.Grant{InfraEnvID: e.ID})}
	for path, status := range map[string]int{
		hostPath(e.ID, h.ID) + "/instructions":                   http.StatusOK,
		envPath(e.ID):                                            http.StatusOK,
		envPath(e.ID) + "/hosts":                                 http.StatusOK,
		clusterPath(c.ID):                                        http.StatusOK,
		clusterPath(c.ID) + "/hosts":                             http.StatusOK,
		hostPath(foreign.ID, foreignHost.ID) + "/instructions":   http.StatusNotFound,
		hostPath(foreign.ID, h.ID) + "/instructions":             http.StatusNotFound,
		envPath(foreign.ID):                                      http.StatusNotFound,
		envPath(late.ID) + "/hosts":                              http.StatusNotFound,
		clusterPath(other.ID):                                    http.StatusNotFound,
		clusterPath(uuid.New()):                                  http.StatusNotFound,
		hostPath(e.ID, foreignHost.ID) + "/instructions":         http.StatusNotFound,
		hostPath(e.ID, h.ID):                                     http.StatusUnauthorized, // a user's
		"/v2/clusters":                                           http.StatusUnauthorized,
		"/v2/events?infra_env_id=" + e.ID.String():               http.StatusUnauthorized,
		"/v2/clusters?infra_env_id=" + e.ID.String():             http.StatusUnauthorized,
		envPath(e.ID) + "/hosts?cluster_id=" + other.ID.String(): http.StatusOK,
	} {
		require.Equal(t, status, l.closed.send(http.MethodGet, path, nil, own...).Status, path)
	}
	body := map[string]any{"host_id": uuid.New()}
	l.closed.want(http.StatusCreated, http.MethodPost, envPath(e.ID)+"/hosts", body, own...)
	l.closed.want(http.StatusNotFound, http.MethodPost, envPath(foreign.ID)+"/hosts", body, own...)

	// A host of the late InfraEnv that was bound to a cluster reaches it from then on.
	lateHost := l.host(late.ID)
	lateToken := []string{"X-Secret-Key", l.token(auth.Grant{InfraEnvID: late.ID})}
	l.closed.want(http.StatusNotFound, http.MethodGet, clusterPath(c.ID), nil, lateToken...)
	l.changeHost(late.ID, lateHost.ID, func(h *model.Host) { h.ClusterID = &c.ID })
	l.closed.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil, lateToken...)
}

func TestEventsAreAddedOnlyToOwnObjects(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, other := l.cluster(nil), l.cluster(map[string]any{"name": "other"})
	e := l.infraEnv(c.ID)
	own := []string{"X-Secret-Key", l.token(auth.Grant{InfraEnvID: e.ID})}
	event := func(id uuid.UUID) map[string]any {
		return map[string]any{
			"cluster_id": id,
			"event_time": "2026-11-21T08:00:00.000Z",
			"message":    "hello",
			"severity":   "info",
			"name":       "x",
		}
	}
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/events", event(c.ID), own...)
	l.closed.want(http.StatusNotFound, http.MethodPost, "/v2/events", event(other.ID), own...)
}

func TestAddressesOpenOneObject(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c := l.cluster(nil)
	e := l.infraEnv(c.ID)
	ofCluster, ofEnv := "api_key="+l.token(auth.Grant{ClusterID: c.ID}), "api_key="+l.token(auth.Grant{InfraEnvID: e.ID})
	other := l.cluster(map[string]any{"name": "other"})
	for path, status := range map[string]int{
		"/v2/events?cluster_id=" + c.ID.String() + "&" + ofCluster:                         http.StatusOK,
		"/v2/events?infra_env_id=" + e.ID.String() + "&" + ofEnv:                           http.StatusOK,
		"/v2/events?cluster_id=" + other.ID.String() + "&" + ofCluster:                     http.StatusNotFound,
		"/v2/events?cluster_id=" + c.ID.String() + "&" + ofEnv:                             http.StatusNotFound,
		"/v2/events?infra_env_id=" + e.ID.String() + "&" + ofCluster:                       http.StatusNotFound,
		envPath(e.ID) + "?" + ofEnv:                                                        http.StatusOK,
		envPath(e.ID) + "?" + ofCluster:                                                    http.StatusNotFound,
		envPath(e.ID) + "/downloads/minimal-initrd?" + ofEnv:                               http.StatusNoContent,
		clusterPath(c.ID) + "/downloads/files?file_name=bootstrap.ign&" + ofCluster:        http.StatusConflict,
		clusterPath(c.ID) + "/downloads/files?file_name=bootstrap.ign&" + ofEnv:            http.StatusNotFound,
		clusterPath(c.ID) + "?" + ofCluster:                                                http.StatusUnauthorized,
		envPath(e.ID) + "/downloads/files?file_name=discovery.ign&" + ofEnv:                http.StatusOK,
		envPath(e.ID) + "/downloads/files?file_name=discovery.ign&api_key=" + "forged.a.b": http.StatusUnauthorized,
	} {
		require.Equal(t, status, l.closed.send(http.MethodGet, path, nil).Status, path)
	}
	list := l.closed.want(http.StatusOK, http.MethodGet, "/v2/events?"+ofCluster, nil).List()
	require.NotEmpty(t, list)
	for _, event := range list {
		require.Equal(t, c.ID.String(), event["cluster_id"], "a list without ids has the caller's object only")
	}
}

func TestUsersNeedATokenAndSeeEverything(t *testing.T) {
	t.Parallel()
	for _, mode := range []auth.Mode{auth.ModeLocal, auth.ModeAgentInstaller} {
		l := newLocal(t, mode)
		require.Contains(
			t,
			l.closed.send(http.MethodGet, "/v2/clusters", nil).Message(http.StatusUnauthorized),
			"a credential in Authorization or Watcher-Authorization is required",
		)
		require.Contains(
			t,
			l.closed.send(http.MethodGet, "/v2/clusters", nil, "Authorization", "Bearer x").Message(http.StatusUnauthorized),
			"Authorization: require a token",
		)
		token := l.token(auth.Grant{Scheme: auth.SchemeUser, Name: "ann"})
		for _, header := range []string{token, "Bearer " + token} {
			l.closed.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil, "Authorization", header)
		}
		body := map[string]any{"name": "env", "pull_secret": pullSecret}
		got := l.closed.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body, "Authorization", token).Object()
		require.Equal(t, "ann", got["user_name"])
		l.closed.send(http.MethodPost, "/v2/infra-envs", body, "X-Secret-Key", token).Message(http.StatusUnauthorized)
		l.closed.send(http.MethodPost, api.OwnPath+"/v1/clusters/"+uuid.NewString()+"/commands/pause", nil).Message(http.StatusUnauthorized)
		// Operations that need no secret are open: machines and people ask before they have one.
		l.closed.want(http.StatusOK, http.MethodGet, "/v2/openapi", nil)
	}
}

func TestWatchersOfTheAgentBasedInstallerMayLook(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeAgentInstaller)
	watcher := []string{"Watcher-Authorization", l.token(auth.Grant{Scheme: auth.SchemeWatcher})}
	l.closed.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil, watcher...)
	l.closed.send(http.MethodDelete, clusterPath(uuid.New()), nil, watcher...).Message(http.StatusUnauthorized)
	e := l.infraEnv(uuid.Nil)
	(&fixture{l.service}).plant(admission.Object{InfraEnvID: e.ID})
	r := l.closed.want(http.StatusOK, http.MethodGet, "/v2/infra-envs", nil, watcher...)
	require.NotContains(t, string(r.Body), canary)
	require.NotContains(t, string(r.Body), "download_url\":\"http", "it would open the image")
	agent := []string{"X-Secret-Key", l.token(auth.Grant{Scheme: auth.SchemeAgent})}
	l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/hosts", nil, agent...)
	l.closed.send(http.MethodGet, hostPath(e.ID, uuid.New()), nil, agent...).Message(http.StatusUnauthorized)
}

func TestAgentsFindTheirTokenInTheDiscoveryConfig(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	e := l.infraEnv(uuid.Nil)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
	config := string(
		l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=discovery.ign", nil, user...).Body,
	)
	_, rest, found := strings.Cut(config, url.QueryEscape(`PULL_SECRET_TOKEN="`))
	if !found {
		_, rest, found = strings.Cut(config, `PULL_SECRET_TOKEN=%22`)
	}
	require.True(t, found, config)
	token, _, _ := strings.Cut(rest, "%22")
	l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/hosts", nil, "X-Secret-Key", token)
}

func TestAddressesOfImagesAreSignedAndEndWithTheirKey(t *testing.T) {
	t.Parallel()
	for mode, form := range map[auth.Mode]struct{ kind, parameter, header string }{
		auth.ModeLocal:          {"byapikey", "api_key", ""},
		auth.ModeAgentInstaller: {"bytoken", "image_token", "Image-Token"},
	} {
		l := newLocal(t, mode)
		user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
		e, other := l.infraEnv(uuid.Nil), l.infraEnv(uuid.Nil)
		image := func() (token string) {
			got := l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/image-url", nil, user...).Object()
			parts := strings.Split(strings.TrimPrefix(got["url"].(string), "http://service.example:8090/"), "/")
			require.Len(t, parts, 5)
			require.Equal(t, []string{form.kind, "4.22.9", "x86_64", "full.iso"}, []string{parts[0], parts[2], parts[3], parts[4]})
			expires, err := time.Parse(time.RFC3339, got["expires_at"].(string))
			require.NoError(t, err)
			require.WithinDuration(t, time.Now().Add(4*time.Hour), expires, time.Minute)
			return parts[1]
		}
		token := image()
		env := l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID), nil, user...).Object()
		require.Contains(t, env["download_url"], "/"+form.kind+"/")
		require.NotEqual(t, "0001-01-01T00:00:00.000Z", env["expires_at"])
		query := "?" + form.parameter + "=" + token
		l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+query, nil)
		l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files"+query+"&file_name=discovery.ign", nil)
		l.closed.want(http.StatusNotFound, http.MethodGet, envPath(other.ID)+query, nil)
		if form.header != "" {
			l.closed.want(http.StatusNoContent, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil, form.header, token)
		} else {
			l.closed.want(http.StatusNoContent, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd"+query, nil)
		}
		script := string(
			l.closed.want(
				http.StatusOK,
				http.MethodGet,
				envPath(e.ID)+"/downloads/files?file_name=ipxe-script&ipxe_script_type=boot-order-control",
				nil,
				user...).Body,
		)
		require.Contains(t, script, form.parameter+"=", "the machine has no other credential")

		l.closed.want(http.StatusNoContent, http.MethodPost, envPath(e.ID)+"/regenerate-signing-key", nil, user...)
		l.closed.send(http.MethodGet, envPath(e.ID)+query, nil).Message(http.StatusUnauthorized)
		l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"?"+form.parameter+"="+image(), nil)
		l.closed.send(http.MethodPost, envPath(uuid.New())+"/regenerate-signing-key", nil, user...).Reason(http.StatusNotFound)
	}
}

func TestListsHoldToTheirTenant(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, e := s.cluster(nil), s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	for tenant, want := range map[store.Tenant]int{
		{}: 1, {Owner: "admin"}: 1, {Owner: "ann"}: 0, {OrgID: "7"}: 0, {Owner: "admin", OrgID: "7"}: 0,
	} {
		clusters := 0
		require.NoError(
			t,
			s.store.Clusters(t.Context(), store.ClusterFilter{Tenant: tenant}, func(*model.Cluster) error { clusters++; return nil }),
		)
		require.Equal(t, want, clusters, "%+v", tenant)
		envs, err := s.store.InfraEnvs(t.Context(), store.InfraEnvFilter{Tenant: tenant})
		require.NoError(t, err)
		require.Len(t, envs, want, "%+v", tenant)
		hosts := 0
		require.NoError(
			t,
			s.store.Hosts(t.Context(), store.HostFilter{InfraEnvID: e.ID, Tenant: tenant}, func(*model.Host) error { hosts++; return nil }),
		)
		require.Equal(t, want, hosts, "%+v", tenant)
		page, err := s.store.Events(t.Context(), store.EventFilter{ClusterID: c.ID, Tenant: tenant})
		require.NoError(t, err)
		require.Equal(t, want > 0, page.Total > 0, "%+v", tenant)
		page, err = s.store.Events(t.Context(), store.EventFilter{HostIDs: []uuid.UUID{h.ID}, Tenant: tenant})
		require.NoError(t, err)
		require.Equal(t, want > 0, page.Total > 0, "%+v", tenant)
	}
}

func TestEveryOperationAsksForACredential(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	l.closed.want(http.StatusOK, http.MethodGet, "/v2/openapi", nil).JSON(&document)
	asked := 0
	for path, item := range document.Paths {
		for method := range item {
			address := path
			for _, name := range []string{"{cluster_id}", "{infra_env_id}", "{host_id}"} {
				address = strings.ReplaceAll(address, name, uuid.NewString())
			}
			address = strings.NewReplacer("{", "", "}", "").Replace(address)
			r := l.closed.send(strings.ToUpper(method), address, nil)
			require.Contains(t, []int{http.StatusUnauthorized, http.StatusBadRequest}, r.Status, "%s %s: %s", method, path, r.Body)
			if r.Status == http.StatusBadRequest {
				continue // a parameter that is required is missed before the authorization check
			}
			r.Message(http.StatusUnauthorized)
			asked++
		}
	}
	require.Greater(t, asked, 60)
}

func TestReadOnlyTokensChangeNothingAndOpenNothing(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c := l.cluster(nil)
	e := l.infraEnv(c.ID)
	h := l.host(e.ID)
	viewer := []string{"Authorization", "Bearer " + l.token(auth.Grant{Scheme: auth.SchemeUser, Name: "bob", ReadOnly: true})}
	for _, path := range []string{
		"/v2/clusters", clusterPath(c.ID), clusterPath(c.ID) + "/hosts", envPath(e.ID) + "/hosts", hostPath(e.ID, h.ID),
		"/v2/events?cluster_id=" + c.ID.String(), "/v2/openshift-versions", "/v2/supported-operators",
	} {
		l.closed.want(http.StatusOK, http.MethodGet, path, nil, viewer...)
	}
	for _, path := range []string{
		"/v2/infra-envs", envPath(e.ID), envPath(e.ID) + "/downloads/image-url", envPath(e.ID) + "/downloads/files?file_name=discovery.ign",
		clusterPath(c.ID) + "/credentials", clusterPath(c.ID) + "/downloads/credentials?file_name=kubeconfig",
		clusterPath(c.ID) + "/downloads/credentials-presigned?file_name=kubeconfig", clusterPath(c.ID) + "/install-config",
		clusterPath(c.ID) + "/downloads/files?file_name=bootstrap.ign", clusterPath(c.ID) + "/logs",
		hostPath(e.ID, h.ID) + "/ignition",
	} {
		l.closed.send(http.MethodGet, path, nil, viewer...).Message(http.StatusForbidden)
	}
	l.closed.send(http.MethodPost, "/v2/clusters", map[string]any{}, viewer...).Message(http.StatusForbidden)
	l.closed.send(http.MethodPatch, clusterPath(c.ID), map[string]any{"name": "x"}, viewer...).Message(http.StatusForbidden)
	l.closed.send(http.MethodDelete, clusterPath(c.ID), nil, viewer...).Message(http.StatusForbidden)
	l.closed.send(http.MethodPost, clusterPath(c.ID)+"/actions/install", nil, viewer...).Message(http.StatusForbidden)
}
