package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
)

// refreshed evaluates what waits for it, as the service does in the background.
func (s *service) refreshed() {
	s.t.Helper()
	for {
		p, found, err := s.store.ClaimRefresh(s.t.Context(), time.Minute)
		require.NoError(s.t, err)
		if !found {
			return
		}
		if p.Cluster {
			require.NoError(s.t, s.evaluation.RefreshCluster(s.t.Context(), p.SubjectID))
		}
		require.NoError(s.t, s.store.FinishRefresh(s.t.Context(), p, time.Now().Add(time.Hour)))
	}
}

func TestSettingsOfAnEnvironmentShowInWhatItsClusterUses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.refreshed()
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{
		"name": "first", "pull_secret": pullSecret, "cluster_id": c.ID, "ignition_config_override": ignition,
	})
	s.refreshed()
	require.Contains(t, s.readCluster(c.ID).FeatureUsage, "IGNITION_CONFIG_OVERRIDE")

	e := s.infraEnv(c.ID)
	s.refreshed()
	require.NotContains(t, s.readCluster(c.ID).FeatureUsage, "DISCOVERY_KERNEL_ARGUMENTS")
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{
		"kernel_arguments": []any{map[string]any{"operation": "append", "value": "a=b"}},
	})
	s.refreshed()
	require.Contains(t, s.readCluster(c.ID).FeatureUsage, "DISCOVERY_KERNEL_ARGUMENTS")
	s.want(http.StatusNoContent, http.MethodDelete, envPath(e.ID), nil)
	s.refreshed()
	require.NotContains(t, s.readCluster(c.ID).FeatureUsage, "DISCOVERY_KERNEL_ARGUMENTS")
}

func TestHostsBelongToTheOwnerOfTheirEnvironment(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser, Name: "ann@example.com"})}
	created := func(path string, body map[string]any) map[string]any {
		return l.closed.want(http.StatusCreated, http.MethodPost, path, body, user...).Object()
	}
	for path, body := range map[string]map[string]any{
		"/v2/clusters":              {"name": "a", "openshift_version": "4.22", "pull_secret": pullSecret},
		"/v2/clusters/disconnected": {"name": "a", "openshift_version": "4.22"},
		"/v2/clusters/import": {
			"name": "a", "api_vip_dnsname": "api.a.example.com", "openshift_cluster_id": "7c5d9a43-6b4d-4f26-b0a4-3d7f7d9f9f9a",
		},
		"/v2/infra-envs": {"name": "a", "pull_secret": pullSecret},
	} {
		got := created(path, body)
		require.Equal(t, "ann@example.com", got["user_name"], path)
		require.Equal(t, "example.com", got["email_domain"], path)
		if path == "/v2/infra-envs" {
			hosts := path + "/" + got["id"].(string) + "/hosts"
			host := l.want(http.StatusCreated, http.MethodPost, hosts, map[string]any{"host_id": got["id"]}).Object()
			require.Equal(t, "ann@example.com", host["user_name"])
		}
	}
}
