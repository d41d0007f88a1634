package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
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
	"slipway/internal/testing/matrix"
	"slipway/internal/testing/unraced"
)

// carriers are the places where a request can carry a credential, written out by hand; a value is set by each.
var carriers = map[string]func(header http.Header, query url.Values, credential string){
	"Authorization":         func(h http.Header, _ url.Values, c string) { h.Set("Authorization", "Bearer "+c) },
	"X-Secret-Key":          func(h http.Header, _ url.Values, c string) { h.Set("X-Secret-Key", c) },
	"Image-Token":           func(h http.Header, _ url.Values, c string) { h.Set("Image-Token", c) },
	"Watcher-Authorization": func(h http.Header, _ url.Values, c string) { h.Set("Watcher-Authorization", c) },
	"api_key":               func(_ http.Header, q url.Values, c string) { q.Set("api_key", c) },
	"image_token":           func(_ http.Header, q url.Values, c string) { q.Set("image_token", c) },
	"signature":             func(_ http.Header, q url.Values, c string) { q.Set("signature", c) },
	"cookie":                func(h http.Header, _ url.Values, c string) { h.Set("Cookie", "slipway_session="+c) },
}

// ownPlace is the place of the credential of each role.
var ownPlace = map[auth.Role]string{
	"admin": "Authorization", "user": "Authorization", "viewer": "Authorization", "kube": "Authorization",
	"agent": "X-Secret-Key", "registrar": "X-Secret-Key", "controller": "X-Secret-Key", "address": "api_key",
}

// estate is a cluster with an InfraEnv and a host, and a credential of each role that is good for them.
type estate struct {
	*local
	cluster, env, host uuid.UUID
	credentials        map[auth.Role]string
}

func newEstate(t *testing.T, status model.ClusterStatus, host model.HostStatus) *estate {
	t.Helper()
	w := &estate{local: newPerHost(t), credentials: map[auth.Role]string{}}
	w.tokens.ImageTokenLife = 30 * 24 * time.Hour
	f := &fixture{w.service}
	w.cluster = f.installed()
	w.env = w.infraEnv(uuid.Nil).ID
	w.host = w.service.host(w.env).ID
	w.changeCluster(w.cluster, func(c *model.Cluster) { c.Status = status })
	w.changeHost(w.env, w.host, func(h *model.Host) { h.ClusterID, h.Status = &w.cluster, host })
	for role := range ownPlace {
		switch role {
		case auth.RoleAgent:
			w.credentials[role] = w.hostToken(w.env, w.host)
		case auth.RoleRegistrar:
			w.credentials[role] = w.imageToken(w.env)
		case auth.RoleController:
			w.credentials[role] = w.controllerToken(w.cluster)
		case auth.RoleAddress:
			link, err := w.tokens.ImageLink(must(w.store.InfraEnv(t.Context(), w.env)), time.Time{})
			require.NoError(t, err)
			w.credentials[role] = link.Value
		default:
			w.credentials[role] = w.userToken(model.UserToken{UserName: "admin", Role: string(role)})
		}
	}
	return w
}

var anyIn = regexp.MustCompile(`(clusters/|infra-envs?/|hosts/|cluster_id=|infra_env_id=|host_id=)[0-9a-f-]{36}`)

// about returns a request with the ids of the estate in its address.
func (w *estate) about(c call) call {
	c.path = anyIn.ReplaceAllStringFunc(c.path, func(text string) string {
		name, id := text[:len(text)-36], w.env
		switch {
		case strings.HasPrefix(name, "cluster"):
			id = w.cluster
		case strings.HasPrefix(name, "host"):
			id = w.host
		}
		return name + id.String()
	})
	return c
}

// ask sends a request with a credential in a place, from an address of its own: wrong credentials of one address are counted.
func (w *estate) ask(t *testing.T, from net.IP, c call, place, credential string) (status int, body string) {
	t.Helper()
	root := base
	if strings.HasPrefix(c.path, api.OwnPath) {
		root = ""
	}
	address, err := url.Parse(w.closed.url + root + c.path)
	require.NoError(t, err)
	var content io.Reader
	switch given := c.body.(type) {
	case nil:
	case string:
		content = strings.NewReader(given)
	case io.Reader:
		content = given
	default:
		text, err := json.Marshal(given)
		require.NoError(t, err)
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), c.method, address.String(), content)
	require.NoError(t, err)
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n+1 < len(c.headers); n += 2 {
		r.Header.Set(c.headers[n], c.headers[n+1])
	}
	query := address.Query()
	carriers[place](r.Header, query, credential)
	r.URL.RawQuery = query.Encode()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// everyCall returns one request of each operation, by its id; they are about the estate.
func (w *estate) everyCall(t *testing.T) map[string]call {
	t.Helper()
	f := &fixture{w.service}
	table := exercises()
	for id, e := range ownExercises {
		table[id] = e
	}
	table["undeleteCluster"] = exercise{ok: func(f *fixture) call { return post(ownClusterPath(f.defined())+"/undelete", nil) }}
	for id, c := range unboundExercises {
		table[id] = exercise{ok: func(*fixture) call { return c }}
	}
	operations, err := api.Operations()
	require.NoError(t, err)
	out := map[string]call{}
	for _, o := range operations {
		e, known := table[o.ID]
		if !known {
			e, known = table[strings.ToLower(o.ID[:1])+o.ID[1:]]
		}
		require.True(t, known, "%s has no exercise", o.ID)
		out[o.ID] = w.about(e.ok(f))
	}
	return out
}

// A credential opens nothing in the place of another: each operation, with the credential of each role for its very objects, in every
// place but its own.
func TestCredentialsOpenNothingInOtherPlaces(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	w := newEstate(t, model.ClusterInstalling, model.HostInstallingInProgress)
	cells := &matrix.Cells{}
	calls := w.everyCall(t)
	before := len(w.orchestrator.commands)
	for n, id := range slices.Sorted(maps.Keys(calls)) {
		for role, credential := range w.credentials {
			for place := range carriers {
				if place == ownPlace[role] {
					continue
				}
				status, body := w.ask(t, net.IPv4(127, 2, 0, byte(1+n)), calls[id], place, credential)
				cells.Denied(status == http.StatusUnauthorized, "%s with the credential of %s in %s: %d %s", id, role, place, status, body)
			}
		}
	}
	require.Len(t, w.orchestrator.commands, before)
	cells.Report(t, 90*8*7)
}

// The states of objects in which credentials of before are dead. Whatever is not named lives.
var deaths = map[string]struct {
	cluster model.ClusterStatus
	host    model.HostStatus
	happens func(t *testing.T, w *estate)
	dead    []auth.Role
}{
	"new":        {model.ClusterReady, model.HostKnown, func(*testing.T, *estate) {}, nil},
	"installing": {model.ClusterInstalling, model.HostInstallingInProgress, func(*testing.T, *estate) {}, nil},
	"installed":  {model.ClusterInstalled, model.HostInstalled, func(*testing.T, *estate) {}, nil},
	"the key was replaced": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.want(http.StatusNoContent, http.MethodPost, envPath(w.env)+"/regenerate-signing-key", nil)
	}, []auth.Role{"agent", "registrar", "address"}},
	"the key was replaced during the installation": {model.ClusterInstalling, model.HostInstallingInProgress, func(_ *testing.T, w *estate) {
		w.want(http.StatusNoContent, http.MethodPost, envPath(w.env)+"/regenerate-signing-key", nil)
	}, []auth.Role{"registrar", "address"}},
	"the host registered again": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.closed.want(http.StatusCreated, http.MethodPost, envPath(w.env)+"/hosts", map[string]any{"host_id": w.host},
			"X-Secret-Key", w.credentials["agent"])
	}, []auth.Role{"agent"}},
	"the host was deleted": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.want(http.StatusNoContent, http.MethodDelete, hostPath(w.env, w.host), nil)
	}, []auth.Role{"agent"}},
	"the InfraEnv was deleted": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.want(http.StatusNoContent, http.MethodDelete, hostPath(w.env, w.host), nil)
		w.want(http.StatusNoContent, http.MethodDelete, envPath(w.env), nil)
	}, []auth.Role{"agent", "registrar", "address"}},
	"the cluster was deleted": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.want(http.StatusNoContent, http.MethodDelete, clusterPath(w.cluster), nil)
	}, []auth.Role{"controller"}},
	"the installation was begun again": {model.ClusterInstalling, model.HostInstalling, func(_ *testing.T, w *estate) {
		w.changeCluster(w.cluster, func(c *model.Cluster) { c.InstallAttempt++ })
	}, []auth.Role{"controller"}},
	"tokens were revoked": {model.ClusterReady, model.HostKnown, func(t *testing.T, w *estate) {
		tokens, err := w.store.Tokens(t.Context(), store.TokenFilter{})
		require.NoError(t, err)
		for _, token := range tokens {
			require.NoError(t, w.store.RevokeToken(t.Context(), token.ID, store.TokenFilter{}))
		}
	}, []auth.Role{"admin", "user", "viewer", "kube"}},
	"a year went by": {model.ClusterReady, model.HostKnown, func(_ *testing.T, w *estate) {
		w.tokens.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
	}, []auth.Role{"admin", "user", "viewer", "kube", "agent", "registrar", "address"}},
}

// A credential that ended opens no operation, and others are alive in the same state: each may read what the table says.
func TestCredentialsEndWithTheStateOfTheirObjects(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	cells := &matrix.Cells{}
	t.Run("states", func(t *testing.T) {
		for name, d := range deaths {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newEstate(t, d.cluster, d.host)
				calls := w.everyCall(t)
				d.happens(t, w)
				for n, id := range slices.Sorted(maps.Keys(calls)) {
					for role, credential := range w.credentials {
						dead := slices.Contains(d.dead, role)
						allowed := slices.Contains(admission.Allowed(id), role)
						if !dead && allowed && calls[id].method != http.MethodGet {
							continue // it would change the state
						}
						status, body := w.ask(t, net.IPv4(127, 3, 0, byte(1+n)), calls[id], ownPlace[role], credential)
						if role == auth.RoleRegistrar && id == "v2GetNextSteps" {
							continue // for hosts that are being reclaimed, and for installed ones that booted it by mistake
						}
						text := []any{name, id, role, status, body}
						switch {
						case dead:
							cells.Denied(status == http.StatusUnauthorized, "%s: %s with the dead credential of %s: %d %s", text...)
						case allowed:
							cells.Opened(status != http.StatusUnauthorized, "%s: %s with the credential of %s: %d %s", text...)
						default:
							refused := status == http.StatusUnauthorized || status == http.StatusForbidden
							cells.Denied(refused, "%s: %s with the credential of %s: %d %s", text...)
						}
					}
				}
			})
		}
	})
	cells.Report(t, 5000)
}
