package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestIgnoredValidationsAreKeptWithTheirCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/ignored-validations"
	require.JSONEq(
		t,
		`{"host-validation-ids":"[]","cluster-validation-ids":"[]"}`,
		string(s.want(http.StatusOK, http.MethodGet, path, nil).Body),
	)
	for name, call := range map[string]struct{ sent, shown, hosts, clusters string }{
		"lists of ids": {
			`{"host-validation-ids":"[\"ntp-synced\",\"mtu-valid\",\"ntp-synced\"]","cluster-validation-ids":"[\"dns-domain-defined\"]"}`,
			`{"host-validation-ids":"[\"ntp-synced\",\"mtu-valid\"]","cluster-validation-ids":"[\"dns-domain-defined\"]"}`,
			`["ntp-synced","mtu-valid"]`, `["dns-domain-defined"]`,
		},
		"all in a list": {
			`{"host-validation-ids":"[\"all\"]"}`, `{"host-validation-ids":"[\"all\"]","cluster-validation-ids":"[]"}`, `["all"]`, "",
		},
		"all as a word": {
			`{"cluster-validation-ids":"all"}`, `{"host-validation-ids":"[]","cluster-validation-ids":"[\"all\"]"}`, "", `["all"]`,
		},
		"nothing, for now": {`{"host-validation-ids":"[]"}`, `{"host-validation-ids":"[]","cluster-validation-ids":"[]"}`, "[]", ""},
		"nothing at all":   {`{}`, `{"host-validation-ids":"[]","cluster-validation-ids":"[]"}`, "", ""},
	} {
		require.JSONEq(t, call.shown, string(s.want(http.StatusCreated, http.MethodPut, path, call.sent).Body), name)
		require.JSONEq(t, call.shown, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body), name)
		got := s.readCluster(c.ID)
		require.Equal(t, call.hosts, got.IgnoredHostValidations, name)
		require.Equal(t, call.clusters, got.IgnoredClusterValidations, name)
	}
	var names []any
	for _, e := range s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String(), nil).List() {
		names = append(names, e["name"])
	}
	require.Contains(t, names, "validations_ignored")
}

func TestValidationsThatCannotBeIgnoredAreRefusedByName(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := clusterPath(s.cluster(nil).ID) + "/ignored-validations"
	for name, call := range map[string]struct{ body, want string }{
		"one every host needs": {
			`{"host-validation-ids":"[\"ntp-synced\",\"connected\",\"hostname-valid\"]"}`, "connected, hostname-valid",
		},
		"one every cluster needs":   {`{"cluster-validation-ids":"[\"pull-secret-set\"]"}`, "pull-secret-set"},
		"an unknown id":             {`{"host-validation-ids":"[\"bogus\"]"}`, "bogus"},
		"one of the other list":     {`{"cluster-validation-ids":"[\"ntp-synced\"]"}`, "ntp-synced"},
		"text that is no list":      {`{"host-validation-ids":"ntp-synced"}`, "JSON list"},
		"a list of something else":  {`{"host-validation-ids":"[1]"}`, "JSON list"},
		"a field that is not there": {`{"hosts":"[]"}`, "hosts"},
	} {
		require.Contains(t, s.send(http.MethodPut, path, call.body).Reason(http.StatusBadRequest), call.want, name)
	}
	gone := clusterPath(uuid.New()) + "/ignored-validations"
	s.send(http.MethodPut, gone, `{}`).Reason(http.StatusNotFound)
	s.send(http.MethodGet, gone, nil).Reason(http.StatusNotFound)
}

func TestSettingsOfAUserInterfaceAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := clusterPath(s.cluster(nil).ID) + "/ui-settings"
	require.JSONEq(t, `""`, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	settings := `"AI_UI:{\"addCustomManifests\":false}"`
	require.JSONEq(t, settings, string(s.want(http.StatusOK, http.MethodPut, path, settings).Body))
	require.JSONEq(t, settings, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	s.send(http.MethodPut, path, `{"a":1}`).Reason(http.StatusBadRequest)
	s.send(http.MethodPut, path, `"`+strings.Repeat("x", 64<<10)+`"`).Reason(http.StatusRequestEntityTooLarge)
	s.send(http.MethodPut, path, `"a\u0000"`).Reason(http.StatusBadRequest)
	s.send(http.MethodGet, clusterPath(uuid.New())+"/ui-settings", nil).Reason(http.StatusNotFound)
	s.send(http.MethodPut, clusterPath(uuid.New())+"/ui-settings", settings).Reason(http.StatusNotFound)
}

func TestDeletedClustersAreShownToAdministratorsUntilTheyAreRemoved(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.host(s.infraEnv(c.ID).ID)
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil).List())
	list := s.want(http.StatusOK, http.MethodGet, "/v2/clusters?with_hosts=true", nil, "get_unregistered_clusters", "true").List()
	require.Len(t, list, 1)
	require.NotNil(t, list[0]["deleted_at"])
	s.send(http.MethodGet, clusterPath(c.ID), nil).Reason(http.StatusNotFound)
	got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil, "get_unregistered_clusters", "true").Object()
	require.NotNil(t, got["deleted_at"])
	require.Empty(t, got["hosts"])
}
