package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/matrix"
	"slipway/internal/wire"
)

const tokensPath = "/api/slipway/v1/tokens"

// as returns the header of a user.
func (l *local) as(name, org string, role auth.Role) []string {
	l.t.Helper()
	return []string{"Authorization", "Bearer " + l.userToken(model.UserToken{UserName: name, OrgID: org, Role: string(role)})}
}

func clusterParams(name string) map[string]any {
	return map[string]any{"name": name, "openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com"}
}

func TestTokensOfUsersAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	now := time.Now()
	l.tokens.Now = func() time.Time { return now }
	admin := l.as("ann", "", auth.RoleAdmin)
	var made wire.UserToken
	l.closed.want(http.StatusCreated, http.MethodPost, tokensPath, map[string]any{
		"user_name": "bob", "org_id": "acme", "note": "pipeline of acme",
	}, admin...).JSON(&made)
	require.Equal(t, []string{"bob", "acme", "user", "pipeline of acme", "ann"},
		[]string{made.UserName, made.OrgID, made.Role, made.Note, made.CreatedBy})
	require.WithinDuration(t, now.Add(30*24*time.Hour), made.ExpiresAt.Time(), time.Minute)
	bob := []string{"Authorization", "Bearer " + made.Token}

	var c wire.Cluster
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("of-bob"), bob...).JSON(&c)
	require.Equal(t, "bob", c.UserName)
	require.Equal(t, "acme", c.OrgID)

	list := func(who []string) (ids []uuid.UUID) {
		var tokens []wire.UserToken
		r := l.closed.want(http.StatusOK, http.MethodGet, tokensPath, nil, who...)
		require.NotContains(t, string(r.Body), "eyJ", "tokens themselves are shown once")
		r.JSON(&tokens)
		for _, token := range tokens {
			ids = append(ids, token.ID)
			require.NotNil(t, token.LastUsedAt, token.UserName)
		}
		return ids
	}
	require.Equal(t, []uuid.UUID{made.ID}, list(bob), "users see their own")
	require.Len(t, list(admin), 2)
	require.Len(t, list(l.as("vera", "", auth.RoleViewer)), 3)

	mallory := l.as("mallory", "", auth.RoleUser)
	namesake := l.as("bob", "other", auth.RoleUser)
	for _, who := range [][]string{mallory, namesake, l.as("vera", "", auth.RoleViewer)} {
		require.Equal(t, http.StatusNotFound, l.closed.send(http.MethodDelete, tokensPath+"/"+made.ID.String(), nil, who...).Status)
		require.Equal(t, http.StatusForbidden,
			l.closed.send(http.MethodPost, tokensPath, map[string]any{"user_name": "mallory", "role": "admin"}, who...).Status)
	}
	l.closed.want(http.StatusNoContent, http.MethodDelete, tokensPath+"/"+made.ID.String(), nil, bob...)
	require.Contains(t, l.closed.send(http.MethodGet, clusterPath(c.ID), nil, bob...).Message(http.StatusUnauthorized), "was revoked")
	require.Equal(t, http.StatusNotFound, l.closed.send(http.MethodDelete, tokensPath+"/"+made.ID.String(), nil, admin...).Status)

	var short wire.UserToken
	l.closed.want(http.StatusCreated, http.MethodPost, tokensPath,
		map[string]any{"user_name": "bob", "expiration_seconds": 3600}, admin...).JSON(&short)
	now = now.Add(2 * time.Hour)
	short.Token = "Bearer " + short.Token
	require.Contains(t, l.closed.send(http.MethodGet, "/v2/clusters", nil, "Authorization", short.Token).Message(http.StatusUnauthorized),
		"has expired")
}

func TestTokensAreRefusedThatAreNotDescribedWell(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	admin := l.as("ann", "", auth.RoleAdmin)
	for want, params := range map[string]map[string]any{
		"user_name":                             {},
		"user_name: require":                    {"user_name": "bob\x1b[31m"},
		"role":                                  {"user_name": "bob", "role": "owner"},
		"at most 31622400, found 1099511627776": {"user_name": "bob", "expiration_seconds": 1 << 40},
		"expiration_seconds: require at lea":    {"user_name": "bob", "expiration_seconds": 1},
		"org_id":                                {"user_name": "bob", "org_id": " acme"},
	} {
		require.Contains(t, l.closed.send(http.MethodPost, tokensPath, params, admin...).Reason(http.StatusBadRequest), want)
	}
	require.Equal(t, http.StatusBadRequest, l.closed.send(http.MethodDelete, tokensPath+"/x", nil, admin...).Status)
	require.Contains(t, l.send(http.MethodPost, tokensPath, map[string]any{"user_name": "bob"}).Reason(http.StatusConflict),
		"require AUTH_TYPE=local to make tokens of users")
}

// Objects of another tenant do not exist: each operation on one, by users of other organizations, without one, and by namesakes.
func TestUsersFindNothingOfOtherTenants(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	strangers := map[string][]string{
		"a user without an organization": l.as("eve", "", auth.RoleUser),
		"a user of an organization":      l.as("eve", "acme", auth.RoleUser),
		"a namesake of the owner":        l.as("admin", "acme", auth.RoleUser),
	}
	table := exercises()
	for id, e := range ownExercises {
		table[id] = e
	}
	cells := &matrix.Cells{}
	for id, e := range table {
		for who, header := range strangers {
			c := e.ok(w)
			if (objectsOf(c.path) == admission.Object{}) {
				break
			}
			before := len(l.orchestrator.commands)
			r := l.closed.send(c.method, c.path, c.body, append(slices.Clone(c.headers), header...)...)
			want := http.StatusNotFound
			if !slices.Contains(allowedFor(id), auth.RoleUser) {
				want = http.StatusForbidden
				if strings.HasPrefix(string(r.Body), `{"code":401`) { // takes no users
					want = http.StatusUnauthorized
				}
			}
			cells.Denied(r.Status == want, "%s by %s: require %d, found %d %s", id, who, want, r.Status, r.Body)
			require.Len(t, l.orchestrator.commands, before, "%s by %s", id, who)
		}
	}
	cells.Report(t, 181)
}

// allowedFor returns the roles of an operation by its name in the tables of exercises.
func allowedFor(id string) []auth.Role {
	if roles := admission.Allowed(id); roles != nil {
		return roles
	}
	return admission.Allowed(strings.ToUpper(id[:1]) + id[1:])
}

func TestTenantsSeeAndJoinTheirOwnObjects(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	ann, anna, eve := l.as("ann", "acme", auth.RoleUser), l.as("anna", "acme", auth.RoleUser), l.as("eve", "", auth.RoleUser)
	var c wire.Cluster
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("of-ann"), ann...).JSON(&c)
	env := func(name string, cluster uuid.UUID, who []string) reply {
		params := map[string]any{"name": name, "pull_secret": pullSecret}
		if cluster != uuid.Nil {
			params["cluster_id"] = cluster
		}
		return l.closed.send(http.MethodPost, "/v2/infra-envs", params, who...)
	}
	require.Equal(t, http.StatusNotFound, env("evil", c.ID, eve).Status, "an image that joins hosts to another tenant's cluster")
	require.Equal(t, http.StatusCreated, env("good", c.ID, anna).Status, "users of an organization share its objects")
	var pool wire.InfraEnv
	env("pool", uuid.Nil, eve).JSON(&pool)
	h := l.host(pool.ID)
	l.changeHost(pool.ID, h.ID, func(h *model.Host) { h.Status = model.HostKnownUnbound })
	bind := func(who []string) int {
		return l.closed.send(http.MethodPost, hostPath(pool.ID, h.ID)+"/actions/bind", map[string]any{"cluster_id": c.ID}, who...).Status
	}
	require.Equal(t, http.StatusNotFound, bind(eve), "her host to another tenant's cluster")
	require.Equal(t, http.StatusNotFound, bind(ann), "another tenant's host to her cluster")
	const some = 1 << 10
	for path, sizes := range map[string][3]int{ // for ann, anna, eve; -1: the address is unknown
		"/v2/clusters":   {1, 1, 0},
		"/v2/infra-envs": {1, 1, 1},
		"/v2/infra-envs?cluster_id=" + c.ID.String():  {1, 1, -1},
		"/v2/clusters?owner=ann":                      {1, 1, 0},
		"/v2/events?cluster_id=" + c.ID.String():      {some, some, -1},
		"/v2/events?infra_env_id=" + pool.ID.String(): {-1, -1, some},
		"/v2/events?host_id=" + h.ID.String():         {0, 0, some},
	} {
		for n, who := range [][]string{ann, anna, eve} {
			r := l.closed.send(http.MethodGet, path, nil, who...)
			if sizes[n] < 0 {
				require.Equal(t, http.StatusNotFound, r.Status, "%s %d: %s", path, n, r.Body)
				continue
			}
			require.Equal(t, http.StatusOK, r.Status, "%s %d: %s", path, n, r.Body)
			var list []map[string]any
			r.JSON(&list)
			if sizes[n] == some {
				require.NotEmpty(t, list, "%s %d", path, n)
				continue
			}
			require.Len(t, list, sizes[n], "%s %d", path, n)
		}
	}
	l.closed.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil, ann...)
	for n, who := range [][]string{ann, anna, eve} {
		deleted := l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/deleted-clusters", nil, who...).List()
		require.Len(t, deleted, []int{1, 1, 0}[n])
	}
}
