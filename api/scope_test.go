package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/unraced"
)

// ownExercises are requests of our own API, which the document of the v2 API does not contain.
var ownExercises = map[string]exercise{
	"commandCluster": {ok: func(w *fixture) call {
		return post(ownClusterPath(w.defined())+"/commands/pause", nil)
	}},
	"showWorkflow": {ok: func(w *fixture) call {
		return get(ownClusterPath(w.defined()) + "/workflow")
	}},
	"undeleteCluster": {ok: func(w *fixture) call {
		id := w.defined()
		w.want(http.StatusNoContent, http.MethodDelete, clusterPath(id), nil)
		return post(ownClusterPath(id)+"/undelete", nil)
	}},
	"showOnFailure": {ok: func(w *fixture) call {
		return get(ownClusterPath(w.defined()) + "/on-failure")
	}},
	"setOnFailure": {ok: func(w *fixture) call {
		return put(ownClusterPath(w.defined())+"/on-failure", map[string]any{"on_failure": "fail"})
	}},
	"showClusterRelease": {ok: func(w *fixture) call {
		return get(ownClusterPath(w.defined()) + "/release")
	}},
	"showTimeline": {ok: func(w *fixture) call {
		return get(ownClusterPath(w.defined()) + "/timeline")
	}},
	"showBootArtifacts": {ok: func(w *fixture) call {
		return get("/api/slipway/v1/infra-envs/" + w.infraEnv(w.defined()).ID.String() + "/boot-artifacts")
	}},
	"showUsage": {ok: func(w *fixture) call {
		return get("/api/slipway/v1/infra-envs/" + w.infraEnv(w.defined()).ID.String() + "/usage")
	}},
	"commandHost": {ok: func(w *fixture) call {
		return post("/api/slipway/v1"+strings.TrimPrefix(with(w.member(w.defined(), model.HostError), ""), "/v2")+"/commands/retry", nil)
	}},
}

// TestCredentialsOfOtherObjectsOpenNothing makes the request of every operation that
// succeeds for a user with credentials that are bound to other objects, in every place
// that a credential may be in.
func TestCredentialsOfOtherObjectsOpenNothing(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	w := &fixture{l.service}
	other := l.cluster(map[string]any{"name": "foreign"})
	env := l.infraEnv(other.ID)
	l.host(env.ID)
	image := l.want(http.StatusOK, http.MethodGet, envPath(env.ID)+"/downloads/image-url", nil).Object()
	require.NotEmpty(t, image["url"])
	link, err := l.tokens.ImageLink(&model.InfraEnv{ID: env.ID, TokenKey: must(l.store.TokenKey(t.Context(), env.ID))}, time.Time{})
	require.NoError(t, err)
	foreign := map[string]string{
		"the agent of another InfraEnv":     l.token(auth.Grant{InfraEnvID: env.ID}),
		"the controller of another cluster": l.token(auth.Grant{ClusterID: other.ID}),
		"the image of another InfraEnv":     link.Value,
		"an InfraEnv that does not exist":   l.token(auth.Grant{InfraEnvID: uuid.New()}),
	}
	table := exercises()
	for id, e := range ownExercises {
		table[id] = e
	}
	for id, e := range table {
		for whose, token := range foreign {
			c := e.ok(w)
			c.headers = append(
				c.headers,
				"X-Secret-Key",
				token,
				"Authorization",
				"Bearer "+token,
				"Watcher-Authorization",
				token,
				"Image-Token",
				token,
			)
			separator := "?"
			if strings.Contains(c.path, "?") {
				separator = "&"
			}
			c.path += separator + "api_key=" + token + "&image_token=" + token
			before := len(l.orchestrator.commands)
			r := l.closed.send(c.method, c.path, c.body, c.headers...)
			require.Contains(
				t,
				[]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound},
				r.Status,
				"%s with %s: %s",
				id,
				whose,
				r.Body,
			)
			require.Len(t, l.orchestrator.commands, before, "%s with %s", id, whose)
		}
	}
	require.Len(t, table, 81+len(ownExercises), "operations of v2, and of Slipway in ownExercises")
}

// TestObjectsAreTheSameHoweverTheirIDsAreWritten asks for another cluster with an id that
// is escaped in the path, and names the own InfraEnv beside it.
func TestObjectsAreTheSameHoweverTheirIDsAreWritten(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, foreign := l.cluster(nil), l.cluster(map[string]any{"name": "foreign"})
	e := l.infraEnv(c.ID)
	token := l.token(auth.Grant{InfraEnvID: e.ID})
	for id, status := range map[string]int{
		c.ID.String(): http.StatusNoContent, escapedID(c.ID): http.StatusNoContent,
		foreign.ID.String(): http.StatusNotFound, escapedID(foreign.ID): http.StatusNotFound,
		"{" + foreign.ID.String() + "}": http.StatusNotFound,
	} {
		body, kind := form(t, "upfile", "logs")
		path := "/v2/clusters/" + id + "/logs?logs_type=controller&infra_env_id=" + e.ID.String()
		r := l.closed.send(http.MethodPost, path, body, "Content-Type", kind, "X-Secret-Key", token)
		require.Equal(t, status, r.Status, "%s: %s", id, r.Body)
	}
}

// TestParametersAreTheSameHoweverOftenTheyAreGiven names the own object first and another
// one after it.
func TestParametersAreTheSameHoweverOftenTheyAreGiven(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, foreign := l.cluster(nil), l.cluster(map[string]any{"name": "foreign"})
	token := l.token(auth.Grant{ClusterID: c.ID})
	for _, query := range []string{
		"cluster_id=" + c.ID.String() + "&cluster_id=" + foreign.ID.String(),
		"cluster_id=" + foreign.ID.String() + "&cluster_id=" + c.ID.String(),
		"cluster_id=&cluster_id=" + foreign.ID.String(), "Cluster_id=" + c.ID.String() + "&cluster%5fid=" + foreign.ID.String(),
	} {
		r := l.closed.send(http.MethodGet, "/v2/events?api_key="+token+"&"+query, nil)
		require.NotEqual(t, http.StatusOK, r.Status, "%s: %s", query, r.Body)
	}
}

func escapedID(id uuid.UUID) string {
	text := id.String()
	return fmt.Sprintf("%%%02x", text[0]) + text[1:]
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
