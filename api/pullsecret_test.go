package api_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/matrix"
	"slipway/internal/testing/unraced"
)

const (
	cloudToken   = "dXNlcjpwYXNzd29yZAo=" // of pullSecret
	tenantSecret = `{"auths":{"cloud.openshift.com":{"auth":"dGVuYW50OnNlY3JldA=="},"quay.io":{"auth":"dXNlcjpwYXNzd29yZAo="}}}`
)

// newPullSecrets starts a service whose agents prove themselves with pull secrets, and makes an estate in it.
func newPullSecrets(t *testing.T, status model.ClusterStatus, host model.HostStatus) *estate {
	t.Helper()
	w := newEstate(t, status, host)
	w.tokens.AgentTokens = auth.PerInfraEnv
	w.tokens.PullSecret = func(ctx context.Context, infraEnvID, clusterID uuid.UUID) (model.Secret, error) {
		if infraEnvID != uuid.Nil {
			e, err := w.store.InfraEnv(ctx, infraEnvID)
			if err != nil {
				return "", err
			}
			return e.PullSecret, nil
		}
		c, err := w.store.Cluster(ctx, clusterID)
		if err != nil {
			return "", err
		}
		return c.PullSecret, nil
	}
	return w
}

// pullSecretStates are the states of the estate, and whether the token of its pull secret opens its InfraEnv and its cluster there.
var pullSecretStates = map[string]struct {
	cluster          model.ClusterStatus
	host             model.HostStatus
	happens          func(w *estate)
	noEnv, noCluster bool
}{
	"new":        {model.ClusterReady, model.HostKnown, func(*estate) {}, false, false},
	"installing": {model.ClusterInstalling, model.HostInstallingInProgress, func(*estate) {}, false, false},
	"installed":  {model.ClusterInstalled, model.HostInstalled, func(*estate) {}, false, false},
	"the key was replaced": {model.ClusterReady, model.HostKnown, func(w *estate) {
		w.want(http.StatusNoContent, http.MethodPost, envPath(w.env)+"/regenerate-signing-key", nil)
	}, false, false},
	"the InfraEnv has another pull secret": {model.ClusterReady, model.HostKnown, func(w *estate) {
		w.want(http.StatusCreated, http.MethodPatch, envPath(w.env), map[string]any{"pull_secret": tenantSecret})
	}, true, false},
	"the cluster has another pull secret": {model.ClusterReady, model.HostKnown, func(w *estate) {
		w.changeCluster(w.cluster, func(c *model.Cluster) { c.PullSecret = tenantSecret })
	}, false, true},
	"the InfraEnv was deleted": {model.ClusterReady, model.HostKnown, func(w *estate) {
		w.want(http.StatusNoContent, http.MethodDelete, hostPath(w.env, w.host), nil)
		w.want(http.StatusNoContent, http.MethodDelete, envPath(w.env), nil)
	}, true, false},
	"the cluster was deleted": {model.ClusterReady, model.HostKnown, func(w *estate) {
		w.want(http.StatusNoContent, http.MethodDelete, clusterPath(w.cluster), nil)
	}, false, true},
}

// The token of a pull secret opens what agents of other implementations call for the InfraEnv and the cluster that have this secret: each
// operation, place and state is a cell, and so are another registry's token and the token of another tenant.
func TestPullSecretsOpenTheirObjectsInOnePlace(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	cells := &matrix.Cells{}
	t.Run("states", func(t *testing.T) {
		for name, state := range pullSecretStates {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newPullSecrets(t, state.cluster, state.host)
				calls := w.everyCall(t)
				state.happens(w)
				for n, id := range slices.Sorted(maps.Keys(calls)) {
					from, c := net.IPv4(127, 4, 0, byte(1+n)), calls[id]
					for place := range carriers {
						if place != "X-Secret-Key" && name == "new" {
							status, body := w.ask(t, from, c, place, cloudToken)
							cells.Denied(status == http.StatusUnauthorized, "%s in %s: %d %s", id, place, status, body)
						}
					}
					for _, wrong := range []string{"dGVuYW50OnNlY3JldA", "", cloudToken + "x", "dXNlcjpwYXNzd29yZAo"} {
						status, body := w.ask(t, from, c, "X-Secret-Key", wrong)
						cells.Denied(status == http.StatusUnauthorized, "%s: %s with %q: %d %s", name, id, wrong, status, body)
					}
					about := strings.Contains(c.path, w.env.String()) && !state.noEnv ||
						!strings.Contains(c.path, w.env.String()) && strings.Contains(c.path, w.cluster.String()) && !state.noCluster
					allowed := slices.Contains(admission.Allowed(id), auth.RoleForeign)
					if about && allowed && c.method != http.MethodGet {
						continue // it would change the state
					}
					status, body := w.ask(t, from, c, "X-Secret-Key", cloudToken)
					if about && allowed {
						cells.Opened(status != http.StatusUnauthorized, "%s: %s: %d %s", name, id, status, body)
						continue
					}
					refused := status == http.StatusUnauthorized || status == http.StatusForbidden
					cells.Denied(refused, "%s: %s is open: %d %s", name, id, status, body)
				}
			})
		}
	})
	cells.Report(t, 3000)
}

func TestPullSecretOfOneTenantRegistersNoHostOfAnother(t *testing.T) {
	t.Parallel()
	w := newPullSecrets(t, model.ClusterReady, model.HostKnown)
	var other struct{ ID uuid.UUID }
	w.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{"name": "theirs", "pull_secret": tenantSecret}).JSON(&other)
	register := func(env uuid.UUID, token string) int {
		return w.closed.send(http.MethodPost, envPath(env)+"/hosts", map[string]any{"host_id": uuid.New()}, "X-Secret-Key", token).Status
	}
	require.Equal(t, http.StatusCreated, register(w.env, cloudToken))
	require.Equal(t, http.StatusCreated, register(other.ID, "dGVuYW50OnNlY3JldA=="))
	require.Equal(t, http.StatusUnauthorized, register(other.ID, cloudToken), "it is the token of quay.io there")
	require.Equal(t, http.StatusUnauthorized, register(w.env, "dGVuYW50OnNlY3JldA=="))

	w.tokens.AgentTokens = auth.PerHost
	require.Equal(t, http.StatusUnauthorized, register(w.env, cloudToken), "agents have tokens of their own")
}

func TestImagesOfPullSecretAgentsHaveTheTokenOfTheirSecret(t *testing.T) {
	t.Parallel()
	w := newPullSecrets(t, model.ClusterReady, model.HostKnown)
	e, err := w.store.InfraEnv(t.Context(), w.env)
	require.NoError(t, err)
	token, err := w.tokens.AgentToken(e)
	require.NoError(t, err)
	require.Equal(t, cloudToken, token.Secret.Reveal())
	e.PullSecret = `{"auths":{"quay.io":{"auth":"dXNlcjpwYXNzd29yZAo="}}}`
	_, err = w.tokens.AgentToken(e)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require a pull secret with cloud.openshift.com")
}
