package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/matrix"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// newPerHost starts a service whose hosts and controllers have tokens of their own.
func newPerHost(t *testing.T, change ...func(*api.Options)) *local {
	t.Helper()
	l := newLocal(t, auth.ModeLocal, change...)
	l.tokens.AgentTokens = auth.PerHost
	l.tokens.Host = func(ctx context.Context, infraEnvID, hostID uuid.UUID) (auth.HostFacts, error) {
		a, err := l.store.HostAccess(ctx, infraEnvID, hostID)
		return auth.HostFacts{
			Generation: a.Generation, ClusterID: a.ClusterID, KeyName: a.KeyName,
			Bootstrap: a.Bootstrap && lifecycle.FetchesConfigs(a.Status, a.Stage),
			Held:      a.Status == model.HostInstallingInProgress,
		}, err
	}
	l.tokens.Cluster = func(ctx context.Context, id uuid.UUID) (auth.ClusterFacts, error) {
		a, err := l.store.ClusterAccess(ctx, id)
		return auth.ClusterFacts{Attempt: a.Attempt, Open: true}, err
	}
	return l
}

// hostToken makes the token of a host as it is now.
func (l *local) hostToken(infraEnvID, hostID uuid.UUID) string {
	l.t.Helper()
	h, err := l.store.Host(l.t.Context(), infraEnvID, hostID)
	require.NoError(l.t, err)
	token, err := l.tokens.HostToken(h, must(l.store.TokenKey(l.t.Context(), infraEnvID)))
	require.NoError(l.t, err)
	return token.Reveal()
}

// imageToken makes the token that the discovery image of an InfraEnv has for agents.
func (l *local) imageToken(infraEnvID uuid.UUID) string {
	l.t.Helper()
	token, err := l.tokens.AgentToken(must(l.store.InfraEnv(l.t.Context(), infraEnvID)))
	require.NoError(l.t, err)
	return token.Secret.Reveal()
}

func (l *local) controllerToken(clusterID uuid.UUID) string {
	l.t.Helper()
	a, err := l.store.ClusterAccess(l.t.Context(), clusterID)
	require.NoError(l.t, err)
	token, err := l.tokens.ControllerToken(clusterID, a.Attempt)
	require.NoError(l.t, err)
	return token.Reveal()
}

// roles are the roles of mode local, written out by hand, with the header of each.
var roles = map[auth.Role]string{
	"admin": "Authorization", "user": "Authorization", "viewer": "Authorization", "kube": "Authorization",
	"agent": "X-Secret-Key", "registrar": "X-Secret-Key", "controller": "X-Secret-Key",
}

// unboundExercises are requests of our own API that are about no cluster and no InfraEnv.
var unboundExercises = map[string]call{
	"listOSImages":        get("/api/slipway/v1/os-images"),
	"listInstallations":   get("/api/slipway/v1/installations"),
	"findClusters":        get("/api/slipway/v1/clusters"),
	"findHosts":           get("/api/slipway/v1/hosts"),
	"findEvents":          get("/api/slipway/v1/events"),
	"listDeletedClusters": get("/api/slipway/v1/deleted-clusters"),
	"listChanges":         get("/api/slipway/v1/changes"),
	"listAudit":           get("/api/slipway/v1/audit"),
	"listKubeObjects":     get("/api/slipway/v1/kube-objects"),
	"signIn":              post("/api/slipway/v1/sign-in", nil),
	"listIssuerUsers":     get("/api/slipway/v1/issuer-users"),
	"forgetIssuerUser":    {method: http.MethodDelete, path: "/api/slipway/v1/issuer-users?name=oidc:ann"},
	"listTokens":          get("/api/slipway/v1/tokens"),
	"createToken":         post("/api/slipway/v1/tokens", map[string]any{"user_name": "bob"}),
	"revokeToken":         {method: http.MethodDelete, path: "/api/slipway/v1/tokens/e45e2c4d-19ac-4dd4-92bf-4b0b7b3b2d0a"},
}

var inPath = regexp.MustCompile(`/(clusters|infra-envs?|hosts)/([0-9a-f-]{36})`)

// objectsOf returns the ids in a path.
func objectsOf(path string) (o admission.Object) {
	for _, m := range inPath.FindAllStringSubmatch(path, -1) {
		id := uuid.MustParse(m[2])
		switch m[1] {
		case "clusters":
			o.ClusterID = id
		case "hosts":
			o.HostID = id
		default:
			o.InfraEnvID = id
		}
	}
	return o
}

// boundHost makes a host of a cluster in any status.
func (l *local) boundHost(cluster uuid.UUID) (infraEnvID, hostID uuid.UUID) {
	env := l.infraEnv(uuid.Nil)
	h := l.host(env.ID)
	l.changeHost(env.ID, h.ID, func(h *model.Host) {
		h.Status = model.HostInstallingInProgress
		if cluster != uuid.Nil {
			h.ClusterID = &cluster
		}
	})
	return env.ID, h.ID
}

// ownToken makes a credential of a role for the very objects that a request is about.
func (l *local) ownToken(w *fixture, role auth.Role, o admission.Object) string {
	switch role {
	case auth.RoleAdmin, auth.RoleViewer:
		return l.userToken(model.UserToken{UserName: "ann", Role: string(role)})
	case auth.RoleUser, auth.RoleKube:
		return l.userToken(model.UserToken{UserName: "admin", Role: string(role)}) // whose the objects of this service are
	case auth.RoleController:
		if o.ClusterID == uuid.Nil && o.HostID != uuid.Nil {
			o.ClusterID = deref(must(l.store.Host(l.t.Context(), o.InfraEnvID, o.HostID)).ClusterID)
		}
		if o.ClusterID == uuid.Nil {
			o.ClusterID = w.defined()
		}
		return l.controllerToken(o.ClusterID)
	}
	if o.InfraEnvID == uuid.Nil {
		o.InfraEnvID, o.HostID = l.boundHost(o.ClusterID)
	}
	if role == auth.RoleRegistrar {
		return l.imageToken(o.InfraEnvID)
	}
	if o.HostID == uuid.Nil {
		o.HostID = w.host(o.InfraEnvID).ID
	}
	return l.hostToken(o.InfraEnvID, o.HostID)
}

// canary is the secret in each field that can hold one.
const canary = "hunter2"

// plant puts secrets into the objects of a request, and into the hosts of a cluster or InfraEnv.
func (w *fixture) plant(o admission.Object) {
	w.t.Helper()
	ctx := w.t.Context()
	known := func(err error) { require.True(w.t, err == nil || errors.Is(err, model.ErrNotFound), "%v", err) }
	const address = "http://ann:" + canary + "@proxy.example.com:3128"
	if o.ClusterID != uuid.Nil {
		_, err := w.store.UpdateCluster(ctx, o.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
			c.InstallConfigOverride = `{"platform":{"baremetal":{"hosts":[{"bmc":{"password":"` + canary + `"}}]}}}`
			c.Proxy.HTTP, c.Proxy.HTTPS = address, address
			return nil
		})
		known(err)
	}
	var hosts [][2]uuid.UUID
	if o.ClusterID != uuid.Nil || o.InfraEnvID != uuid.Nil {
		known(w.store.Hosts(ctx, store.HostFilter{ClusterID: o.ClusterID, InfraEnvID: o.InfraEnvID}, func(h *model.Host) error {
			hosts = append(hosts, [2]uuid.UUID{h.InfraEnvID, h.ID})
			return nil
		}))
	}
	envs := []uuid.UUID{o.InfraEnvID}
	for _, host := range hosts {
		_, err := w.store.UpdateHost(ctx, host[0], host[1], func(h *model.Host, _ *store.Tx) error {
			h.IgnitionConfigOverrides = `{"ignition":{"version":"3.1.0"},"passwd":{"users":[{"name":"core","passwordHash":"` + canary + `"}]}}`
			h.InstallerArgs = []string{"--append-karg", "rd.example=" + canary}
			h.Fencing = &model.FencingCredentials{Address: "192.0.2.1", Username: canary, Password: canary}
			return nil
		})
		known(err)
		envs = append(envs, host[0])
	}
	for _, id := range envs {
		if id == uuid.Nil {
			continue
		}
		_, err := w.store.UpdateInfraEnv(ctx, id, func(e *model.InfraEnv, _ *store.Tx) error {
			e.Proxy.HTTP, e.Proxy.HTTPS = address, address
			e.IgnitionConfigOverride = `{"ignition":{"version":"3.1.0"},"passwd":{"users":[{"name":"core","passwordHash":"` + canary + `"}]}}`
			e.KernelArguments = []model.KernelArgument{{Operation: "append", Value: "rd.example=" + canary}}
			e.StaticNetworkConfig = `[{"network_yaml":"interfaces:\n- name: eth0\n  802.1x:\n    private-key-password: ` + canary + `\n"}]`
			return nil
		})
		known(err)
	}
}

// Each operation is asked by each role, about objects of its own. A cell that is not in the table is refused, and a cell in it is not
// refused for its role.
func TestEachRoleMayDoWhatTheTableSays(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	table := exercises()
	for id, e := range ownExercises {
		table[id] = e
	}
	for id, c := range unboundExercises {
		table[id] = exercise{ok: func(*fixture) call { return c }}
	}
	// A deleted cluster has no tokens of its own: here the operation is refused for the state of the cluster.
	table["undeleteCluster"] = exercise{ok: func(w *fixture) call { return post(ownClusterPath(w.defined())+"/undelete", nil) }}
	operations, err := api.Operations()
	require.NoError(t, err)
	member := with(w.member(w.defined(), model.HostKnown), "") // lists have a host, whose objects have secrets
	inCluster := deref(must(l.store.Host(t.Context(), objectsOf(member).InfraEnvID, objectsOf(member).HostID)).ClusterID)
	w.plant(objectsOf(member))
	for id, c := range map[string]call{
		"ListInfraEnvs": get("/v2/infra-envs"), "v2ListHosts": get(envPath(objectsOf(member).InfraEnvID) + "/hosts"),
		"ListClusterHosts": get(clusterPath(inCluster) + "/hosts"), "v2ListClusters": get("/v2/clusters?with_hosts=true"),
	} {
		table[id] = exercise{ok: func(*fixture) call { return c }}
	}
	cells, searched := &matrix.Cells{}, 0
	secrets := map[string]bool{} // operations that show some to users
	for _, o := range operations {
		e, known := table[o.ID]
		if !known {
			e, known = table[strings.ToLower(o.ID[:1])+o.ID[1:]]
		}
		require.True(t, known, "%s has no exercise", o.ID)
		allowed := admission.Allowed(o.ID)
		require.NotEmpty(t, allowed, "%s has no row", o.ID)
		ask := func(role auth.Role, c call) reply {
			token := l.ownToken(w, role, objectsOf(c.path))
			if o := objectsOf(c.path); role == auth.RoleRegistrar && o.HostID != uuid.Nil { // one that it may speak for
				l.changeHost(o.InfraEnvID, o.HostID, func(h *model.Host) { h.Status = model.HostReclaiming })
			}
			w.plant(objectsOf(c.path))
			return l.closed.send(c.method, c.path, c.body, append(slices.Clone(c.headers), roles[role], token)...)
		}
		var refused call // changes nothing: its objects serve all roles that are refused
		for role := range roles {
			if slices.Contains(allowed, role) {
				r := ask(role, e.ok(w))
				opened := r.Status != http.StatusUnauthorized && r.Status != http.StatusTooManyRequests &&
					!strings.Contains(string(r.Body), "for "+o.ID)
				cells.Opened(opened, "%s as %s: %d %s", o.ID, role, r.Status, r.Body)
				shown := string(r.Body) + fmt.Sprint(r.Header)
				if strings.Contains(shown, canary) {
					secrets[o.ID] = true
					require.Contains(t, []auth.Role{auth.RoleAdmin, auth.RoleUser, auth.RoleKube}, role, "%s shows secrets: %s", o.ID, shown)
				}
				searched++
				if (role == auth.RoleUser || role == auth.RoleKube) && o.ID != "RevokeToken" {
					require.NotEqual(t, http.StatusNotFound, r.Status, "%s as %s: %s", o.ID, role, r.Body)
				}
				continue
			}
			if refused.path == "" {
				refused = e.ok(w)
			}
			r := ask(role, refused)
			cells.Denied(r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden, "%s as %s: %d %s", o.ID, role, r.Status, r.Body)
		}
	}
	cells.Report(t, len(operations)*len(roles))
	t.Logf("answers searched for secrets %d", searched)
	for _, id := range []string{
		"ListInfraEnvs", "GetInfraEnv", "v2ListClusters", "v2GetCluster", "v2GetHost", "v2ListHosts", "ListClusterHosts",
	} {
		require.True(t, secrets[id], "%s shows no secret to its user: the search finds none", id)
	}
}

// Attack: a token of a pool environment whose other host is in another cluster.
func TestTokensOfHostsOpenTheirHostOnly(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	a, b := w.installed(), w.at(model.ClusterInstalling)
	pool := l.infraEnv(uuid.Nil)
	inA, inB := l.host(pool.ID), l.host(pool.ID)
	l.changeHost(pool.ID, inA.ID, func(h *model.Host) { h.ClusterID = &a })
	l.changeHost(pool.ID, inB.ID, func(h *model.Host) {
		h.ClusterID, h.Bootstrap, h.Status = &b, true, model.HostInstalling
	})
	w.put(b, "bootstrap.ign", []byte(ignition))
	w.put(b, "kubeadmin-password", []byte("hunter2"))
	ofB := []string{"X-Secret-Key", l.hostToken(pool.ID, inB.ID)}
	for path, status := range map[string]int{
		clusterPath(b):                                                                http.StatusOK,
		clusterPath(b) + "/hosts":                                                     http.StatusOK,
		hostPath(pool.ID, inB.ID) + "/instructions":                                   http.StatusOK,
		clusterPath(b) + "/downloads/files?file_name=bootstrap.ign":                   http.StatusOK, // its host bootstraps
		clusterPath(a):                                                                http.StatusNotFound,
		clusterPath(a) + "/hosts":                                                     http.StatusNotFound,
		clusterPath(a) + "/downloads/files?file_name=bootstrap.ign":                   http.StatusNotFound,
		hostPath(pool.ID, inA.ID) + "/instructions":                                   http.StatusNotFound,
		envPath(pool.ID) + "/downloads/files?file_name=discovery.ign":                 http.StatusForbidden,
		clusterPath(b) + "/downloads/credentials?file_name=kubeadmin-password":        http.StatusForbidden,
		clusterPath(b) + "/downloads/credentials?file_name=kubeconfig-noingress":      http.StatusForbidden,
		clusterPath(b) + "/downloads/files?file_name=master.ign":                      http.StatusForbidden,
		clusterPath(b) + "/downloads/files?file_name=install-config.yaml":             http.StatusForbidden,
		clusterPath(b) + "/monitored-operators":                                       http.StatusForbidden,
		"/v2/infra-env/" + pool.ID.String() + hostsOf(inA.ID) + "/downloads/ignition": http.StatusNotFound,
	} {
		r := l.closed.send(http.MethodGet, path, nil, ofB...)
		require.Equal(t, status, r.Status, "%s: %s", path, r.Body)
	}
	other := map[string]any{"host_id": inA.ID}
	require.Equal(t, http.StatusForbidden, l.closed.send(http.MethodPost, envPath(pool.ID)+"/hosts", other, ofB...).Status, "as another host")
	body, kind := form(t, "upfile", "logs")
	r := l.closed.send(http.MethodPost, clusterPath(b)+"/logs?logs_type=controller", body, "Content-Type", kind, "X-Secret-Key", ofB[1])
	require.Equal(t, http.StatusForbidden, r.Status)

	// The host that bootstraps sees masters of its cluster join, and no others.
	third := l.host(pool.ID)
	progress := map[string]any{"current_stage": "Configuring"}
	require.Equal(t, http.StatusNotFound,
		l.closed.send(http.MethodPut, hostPath(pool.ID, third.ID)+"/progress", progress, ofB...).Status)
	l.changeHost(pool.ID, third.ID, func(h *model.Host) { h.ClusterID = &b })
	require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound},
		l.closed.send(http.MethodPut, hostPath(pool.ID, third.ID)+"/progress", progress, ofB...).Status)

	// The image's token only registers.
	image := []string{"X-Secret-Key", l.imageToken(pool.ID)}
	for _, path := range []string{
		clusterPath(b), clusterPath(b) + "/hosts", envPath(pool.ID), envPath(pool.ID) + "/hosts", hostPath(pool.ID, inA.ID) + "/instructions",
		clusterPath(a) + "/downloads/credentials?file_name=kubeadmin-password",
	} {
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden},
			l.closed.send(http.MethodGet, path, nil, image...).Status, path)
	}
	// A token of the v2 API is invalid where hosts have tokens of their own.
	old := []string{"X-Secret-Key", l.token(auth.Grant{InfraEnvID: pool.ID})}
	require.Equal(t, http.StatusUnauthorized, l.closed.send(http.MethodPost, envPath(pool.ID)+"/hosts", other, old...).Status)
	require.Equal(t, http.StatusUnauthorized, l.closed.send(http.MethodGet, clusterPath(b), nil, old...).Status)
}

func TestTokensOfHostsEnd(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	now := time.Now()
	l.tokens.Now = func() time.Time { return now }
	e := l.infraEnv(uuid.Nil)
	id := uuid.New()
	register := func(token string) []string {
		body := map[string]any{"host_id": id}
		r := l.closed.want(http.StatusCreated, http.MethodPost, envPath(e.ID)+"/hosts", body, "X-Secret-Key", token)
		require.NotEmpty(t, r.Header.Get("Slipway-Token"))
		return []string{"X-Secret-Key", r.Header.Get("Slipway-Token")}
	}
	poll := hostPath(e.ID, id) + "/instructions"
	first := register(l.imageToken(e.ID))
	require.Empty(t, l.closed.want(http.StatusOK, http.MethodGet, poll, nil, first...).Header.Get("Slipway-Token"))
	now = now.Add(2 * time.Hour)
	renewed := l.closed.want(http.StatusOK, http.MethodGet, poll, nil, first...).Header.Get("Slipway-Token")
	require.NotEmpty(t, renewed, "an old one is renewed by a poll")
	now = now.Add(23 * time.Hour)
	require.Contains(t, l.closed.send(http.MethodGet, poll, nil, first...).Message(http.StatusUnauthorized), "has expired")
	l.closed.want(http.StatusOK, http.MethodGet, poll, nil, "X-Secret-Key", renewed)

	second := register(renewed)
	refused := l.closed.send(http.MethodGet, poll, nil, "X-Secret-Key", renewed).Message(http.StatusUnauthorized)
	require.Contains(t, refused, "has registered again")
	image := l.imageToken(e.ID)
	l.want(http.StatusNoContent, http.MethodPost, envPath(e.ID)+"/regenerate-signing-key", nil)
	require.Contains(t, l.closed.send(http.MethodGet, poll, nil, second...).Message(http.StatusUnauthorized), "was replaced")
	require.Equal(t, http.StatusUnauthorized,
		l.closed.send(http.MethodPost, envPath(e.ID)+"/hosts", map[string]any{"host_id": id}, "X-Secret-Key", image).Status)
	l.changeHost(e.ID, id, func(h *model.Host) { h.Status = model.HostInstallingInProgress })
	l.closed.want(http.StatusOK, http.MethodGet, poll, nil, second...) // an installation outlives the rotation
	l.changeHost(e.ID, id, func(h *model.Host) { h.Status = model.HostKnownUnbound })
	require.NoError(t, orchestrator.Acceptance{Store: l.store}.Approve(t.Context(), e.ID, id))
	third := register(l.imageToken(e.ID))
	l.want(http.StatusNoContent, http.MethodDelete, hostPath(e.ID, id), nil)
	require.Contains(t, l.closed.send(http.MethodGet, poll, nil, third...).Message(http.StatusUnauthorized), "there is no host")
}

// Attack: a controller writes events of another cluster. It may write its own.
func TestControllersSpeakOfTheirClusterOnly(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	own, other := w.at(model.ClusterInstalling), w.at(model.ClusterInstalling)
	env, host := l.boundHost(own)
	mine := l.readHost(env, host)
	env, host = l.boundHost(other)
	theirs := l.readHost(env, host)
	token := []string{"X-Secret-Key", l.controllerToken(own)}
	event := func(cluster, host uuid.UUID, env uuid.UUID, name string) int {
		return l.closed.send(http.MethodPost, "/v2/events", map[string]any{
			"cluster_id": cluster, "host_id": host, "infra_env_id": env, "name": name,
			"event_time": "2026-11-21T08:00:00.000Z", "message": "hello", "severity": "info",
		}, token...).Status
	}
	require.Equal(t, http.StatusCreated, event(own, mine.ID, mine.InfraEnvID, "reboots_for_node"))
	require.Equal(t, http.StatusNotFound, event(own, theirs.ID, theirs.InfraEnvID, "reboots_for_node"))
	require.Equal(t, http.StatusNotFound, event(other, theirs.ID, theirs.InfraEnvID, "reboots_for_node"))
	require.Equal(t, http.StatusBadRequest, event(own, mine.ID, mine.InfraEnvID, "disk_is_failing"))
	progress := map[string]any{"current_stage": "Joined"}
	require.Equal(t, http.StatusNotFound,
		l.closed.send(http.MethodPut, hostPath(theirs.InfraEnvID, theirs.ID)+"/progress", progress, token...).Status)
	l.closed.want(http.StatusOK, http.MethodGet, clusterPath(own), nil, token...)
	require.Equal(t, http.StatusNotFound, l.closed.send(http.MethodGet, clusterPath(other), nil, token...).Status)

	// Another installation of the cluster has another controller.
	_, err := l.store.UpdateCluster(t.Context(), own, func(c *model.Cluster, _ *store.Tx) error {
		c.InstallAttempt++
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, l.closed.send(http.MethodGet, clusterPath(own), nil, token...).Message(http.StatusUnauthorized), "is over")
}

func TestMachinesAndViewersSeeNoPasswordsOfAClusterOrHost(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	id := w.at(model.ClusterInstalling)
	h := l.readHost(l.boundHost(id))
	w.changeCluster(id, func(c *model.Cluster) {
		c.InstallConfigOverride = `{"platform":{"baremetal":{"hosts":[{"bmc":{"password":"hunter2"}}]}}}`
		c.Proxy.HTTP = "http://ann:hunter2@proxy.example.com:3128"
	})
	w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.IgnitionConfigOverrides = `{"passwordHash":"hunter2"}` })
	for role, header := range roles {
		if role == auth.RoleRegistrar {
			continue
		}
		token := l.ownToken(w, role, admission.Object{ClusterID: id, InfraEnvID: h.InfraEnvID, HostID: h.ID})
		paths := []string{clusterPath(id), clusterPath(id) + "?exclude-hosts=true"}
		if slices.Contains(admission.Allowed("ListClusterHosts"), role) {
			paths = append(paths, clusterPath(id)+"/hosts")
		}
		if slices.Contains(auth.UserRoles, role) {
			paths = append(paths, hostPath(h.InfraEnvID, h.ID))
		}
		for _, path := range paths {
			r := l.closed.want(http.StatusOK, http.MethodGet, path, nil, header, token)
			shown := strings.Contains(string(r.Body), "hunter2")
			require.Equal(t, role == auth.RoleAdmin || role == auth.RoleUser || role == auth.RoleKube, shown, "%s as %s", path, role)
		}
	}
}

func hostsOf(id uuid.UUID) string { return "/hosts/" + id.String() }

func deref(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}

// Attack: a signed address is used after the key of its InfraEnv was replaced.
func TestSignedAddressesOfAnInfraEnvEndWithItsKey(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	e := l.infraEnv(uuid.Nil)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
	address := l.closed.presigned(envPath(e.ID)+"/downloads/files-presigned?file_name=discovery.ign", user...)
	require.Equal(t, http.StatusOK, l.closed.follow(address).Status)
	l.closed.want(http.StatusNoContent, http.MethodPost, envPath(e.ID)+"/regenerate-signing-key", nil, user...)
	require.Equal(t, http.StatusUnauthorized, l.closed.follow(address).Status)
}

// Attack: others answer for the address that a disk is written from.
func TestImagesOfUsersComeOverHTTPS(t *testing.T) {
	t.Parallel()
	s := newService(t, func(*api.Options) {})
	e := s.infraEnv(uuid.Nil)
	path := hostPath(e.ID, s.host(e.ID).ID) + "/installer-args"
	args := func(list ...string) map[string]any { return map[string]any{"args": list} }
	for _, list := range [][]string{
		{"--image-url", "http://192.0.2.1/rhcos.raw"}, {"--image-url=ftp://192.0.2.1/x"}, {"--image-url", "https://"},
	} {
		require.Contains(t, s.send(http.MethodPatch, path, args(list...)).Reason(http.StatusBadRequest), "begins with https://")
	}
	s.want(http.StatusCreated, http.MethodPatch, path, args("--image-url", "https://192.0.2.1/rhcos.raw", "--append-karg", "nosmt"))
}

// lookingDiscovery reads a host as a poll does, after it has changed.
type lookingDiscovery struct {
	api.Discovery
	look func(ctx context.Context) wire.Steps
}

func (d *lookingDiscovery) NextSteps(ctx context.Context, _ discovery.PollInput) (wire.Steps, error) {
	return d.look(ctx), nil
}

// A poll that is held looks after it has begun to listen: what came while its credential was checked is not missed.
func TestAHeldPollLooksForItself(t *testing.T) {
	t.Parallel()
	agents := &lookingDiscovery{}
	l := newPerHost(t, func(o *api.Options) { o.Discovery = agents })
	h := l.host(l.infraEnv(l.cluster(nil).ID).ID)
	infraEnvID, hostID := h.InfraEnvID, h.ID
	for header, fresh := range map[string]bool{"wait=30": true, "handling=lenient": false} {
		l.changeHost(infraEnvID, hostID, func(h *model.Host) { h.Status = model.HostKnown })
		agents.look = func(ctx context.Context) wire.Steps {
			l.changeHost(infraEnvID, hostID, func(h *model.Host) { h.Status = model.HostInsufficient })
			v, err := l.store.Poll(ctx, infraEnvID, hostID)
			require.NoError(t, err)
			require.Equal(t, fresh, v.Status == model.HostInsufficient, header)
			return wire.Steps{PostStepAction: wire.Continue}
		}
		l.closed.want(http.StatusOK, http.MethodGet, hostPath(infraEnvID, hostID)+"/instructions", nil,
			wire.HeaderPrefer, header, "X-Secret-Key", l.hostToken(infraEnvID, hostID))
	}
}
