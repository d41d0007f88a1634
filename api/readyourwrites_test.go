package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// verdict returns the status of a validation in a text of validations_info.
func verdict(t *testing.T, text, id string) string {
	t.Helper()
	var groups map[string][]struct{ ID, Status string }
	require.NoError(t, json.Unmarshal([]byte(text), &groups))
	for _, group := range groups {
		for _, v := range group {
			if v.ID == id {
				return v.Status
			}
		}
	}
	return "not there"
}

// The service of these tests evaluates nothing in the background: answers show evaluations made for them.
func TestAnswersShowWhatFollowsFromTheChange(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"base_dns_domain": ""})
	require.Equal(t, wire.ClusterStatus("insufficient"), c.Status, "every cluster begins with it")
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	other := s.host(e.ID)
	require.Equal(t, "master-0", other.RequestedHostname)

	t.Run("of a cluster", func(t *testing.T) {
		var got wire.Cluster
		for domain, want := range map[string]string{"example.com": "success", "": "failure"} {
			s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"base_dns_domain": domain}).JSON(&got)
			require.Equal(t, want, verdict(t, got.ValidationsInfo, "dns-domain-defined"), domain)
			require.Equal(t, wire.ClusterStatus("pending-for-input"), got.Status)
			require.Equal(t, want, verdict(t, s.readCluster(c.ID).ValidationsInfo, "dns-domain-defined"))
		}
	})
	t.Run("of a host", func(t *testing.T) {
		var got wire.Host
		for name, want := range map[string]string{"master-0": "failure", "node-1": "success"} {
			s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), map[string]any{"host_name": name}).JSON(&got)
			require.Equal(t, want, verdict(t, got.ValidationsInfo, "hostname-unique"), name)
			for _, path := range []string{clusterPath(c.ID) + "/hosts", envPath(e.ID) + "/hosts"} {
				var list []wire.Host
				s.want(http.StatusOK, http.MethodGet, path, nil).JSON(&list)
				require.Equal(t, want, verdict(t, list[0].ValidationsInfo, "hostname-unique"), path)
			}
		}
	})
	t.Run("of operators", func(t *testing.T) {
		var got wire.Cluster
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"olm_operators": []any{map[string]any{"name": "lso"}}}).
			JSON(&got)
		require.NotContains(t, got.ValidationsInfo, "Local storage is not installed with this cluster")
	})
	t.Run("of a manifest", func(t *testing.T) {
		s.want(http.StatusCreated, http.MethodPost, clusterPath(c.ID)+"/manifests",
			map[string]any{"file_name": "a.yaml", "content": "a2luZDogQ29uZmlnTWFwCg=="})
		require.Contains(t, s.readCluster(c.ID).FeatureUsage, "CUSTOM_MANIFEST")
	})
	t.Run("in the list of clusters", func(t *testing.T) {
		s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), map[string]any{"host_name": "master-0"})
		var list []wire.Cluster
		s.want(http.StatusOK, http.MethodGet, "/v2/clusters?with_hosts=true", nil).JSON(&list)
		require.Equal(t, "failure", verdict(t, list[0].Hosts[0].ValidationsInfo, "hostname-unique"))
	})
	t.Run("of a host that leaves", func(t *testing.T) {
		s.want(http.StatusNoContent, http.MethodDelete, hostPath(e.ID, h.ID), nil)
		left := s.readCluster(c.ID).Hosts
		require.Len(t, left, 1)
		require.Equal(t, "success", verdict(t, left[0].ValidationsInfo, "hostname-unique"))
	})
}
