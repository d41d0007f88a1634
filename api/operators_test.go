package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func operatorsOf(c wire.Cluster) map[string]wire.MonitoredOperator {
	out := map[string]wire.MonitoredOperator{}
	for _, o := range c.MonitoredOperators {
		out[o.Name] = o
	}
	return out
}

func TestOperatorsOnOffer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var names []string
	s.want(http.StatusOK, http.MethodGet, "/v2/supported-operators", nil).JSON(&names)
	require.ElementsMatch(t, operators.Names(), names)
	require.Contains(t, names, "numaresources")
	for _, name := range names {
		require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, "/v2/supported-operators/"+name, nil).Body))
	}
	require.Contains(t, s.send(http.MethodGet, "/v2/supported-operators/mystery", nil).Reason(http.StatusNotFound), "mystery")
}

func TestBundlesOnOffer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids := func(query string) []string {
		list := []string{}
		for _, b := range s.want(http.StatusOK, http.MethodGet, "/v2/operators/bundles"+query, nil).List() {
			list = append(list, b["id"].(string))
		}
		return list
	}
	require.Equal(t, []string{"virtualization", "openshift-ai"}, ids(""))
	require.Equal(
		t,
		[]string{"virtualization", "openshift-ai"},
		ids("?openshift_version=4.22&cpu_architecture=x86_64&platform_type=baremetal&feature_ids=SNO"),
	)
	require.Empty(t, ids("?cpu_architecture=s390x"))
	require.Equal(t, []string{"openshift-ai"}, ids("?platform_type=nutanix"))
	require.Empty(t, ids("?platform_type=nutanix&feature_ids=SNO"), "on one node it takes lvm")
	s.send(http.MethodGet, "/v2/operators/bundles?cpu_architecture=z80", nil).Reason(http.StatusBadRequest)
	s.send(http.MethodGet, "/v2/operators/bundles?openshift_version=new", nil).Reason(http.StatusBadRequest)

	var b wire.Bundle
	s.want(http.StatusOK, http.MethodGet, "/v2/operators/bundles/openshift-ai", nil).JSON(&b)
	require.Contains(t, b.Operators, "odf")
	require.Equal(t, []string{"amd-gpu", "nvidia-gpu"}, b.OptionalOperators)
	require.NotEmpty(t, b.Title)
	require.NotEmpty(t, b.Description)
	s.want(http.StatusOK, http.MethodGet, "/v2/operators/bundles/openshift-ai?feature_ids=SNO", nil).JSON(&b)
	require.Contains(t, b.Operators, "lvm")
	require.Contains(t, s.send(http.MethodGet, "/v2/operators/bundles/all", nil).Reason(http.StatusNotFound), "all")
}

func TestOperatorsOfACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"olm_operators": []map[string]any{{"name": "odf", "properties": `{"a":"b"}`}, {"name": "metallb"}}})
	found := operatorsOf(c)
	require.Len(t, found, 4)
	odf := found["odf"]
	require.Equal(t, wire.Olm, odf.OperatorType)
	require.Equal(t, "openshift-storage", odf.Namespace)
	require.Equal(t, "odf-operator", odf.SubscriptionName)
	require.Equal(t, 1800, odf.TimeoutSeconds)
	require.Equal(t, `{"a":"b"}`, odf.Properties)
	require.Equal(t, []string{"openshift-ai"}, odf.Bundles, "it is in a bundle")
	require.Empty(t, odf.SourceBundles, "but did not come from it")
	require.False(t, odf.DependencyOnly)
	require.True(t, found["lso"].DependencyOnly)
	require.Equal(t, wire.Builtin, found["console"].OperatorType)

	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"olm_operators":[{"name":"odf","properties":"{}"}]}`)
	found = operatorsOf(s.readCluster(c.ID))
	require.Len(t, found, 3)
	require.Equal(t, "{}", found["odf"].Properties)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		clusterPath(c.ID),
		`{"operator_bundles":[{"id":"openshift-ai","optional_operators":["nvidia-gpu"]}]}`,
	)
	c = s.readCluster(c.ID)
	found = operatorsOf(c)
	require.Equal(t, "openshift-ai", c.OperatorBundles[0].ID)
	require.Equal(t, []string{"nvidia-gpu"}, *c.OperatorBundles[0].OptionalOperators)
	require.Equal(t, []string{"openshift-ai"}, found["nvidia-gpu"].SourceBundles)
	require.True(t, found["node-feature-discovery"].DependencyOnly)
	require.NotContains(t, found, "amd-gpu")
	list := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/monitored-operators?operator_name=nvidia-gpu", nil).List()
	require.Equal(t, []any{"openshift-ai"}, list[0]["source_bundles"])

	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"name":"other"}`)
	require.Len(t, s.readCluster(c.ID).MonitoredOperators, len(found), "what is absent stays")
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"operator_bundles":[]}`)
	require.Len(t, s.readCluster(c.ID).MonitoredOperators, 3)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"olm_operators":[]}`)
	require.Len(t, s.readCluster(c.ID).MonitoredOperators, 1)
}

func TestOperatorsThatCannotBeChosen(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	patch := func(body string, status int) string {
		return s.send(http.MethodPatch, clusterPath(c.ID), body).Reason(status)
	}
	require.Contains(t, patch(`{"olm_operators":[{"name":"mystery"}]}`, http.StatusBadRequest), `"mystery"`)
	require.Contains(t, patch(`{"operator_bundles":[{"id":"all"}]}`, http.StatusBadRequest), `"all"`)
	both := patch(`{"olm_operators":[{"name":"lvm"},{"name":"odf"}]}`, http.StatusBadRequest)
	require.Contains(t, both, "(LVM)")
	require.Contains(t, both, "(ODF)")
	single := s.send(http.MethodPost, "/v2/clusters", map[string]any{
		"name": "single", "openshift_version": "4.22", "pull_secret": pullSecret, "control_plane_count": 1,
		"olm_operators": []map[string]any{{"name": "odf"}},
	}).Reason(http.StatusBadRequest)
	require.Contains(t, single, "SNO")
	require.Contains(t, single, "ODF")
	require.Len(t, s.readCluster(c.ID).MonitoredOperators, 1, "a refused change changes nothing")

	for _, status := range []model.ClusterStatus{model.ClusterInstalling, model.ClusterInstalled} {
		s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = status })
		patch(`{"olm_operators":[{"name":"lso"}]}`, http.StatusConflict)
	}
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status, c.Kind = model.ClusterAddingHosts, model.KindAddHostsCluster })
	require.Contains(t, patch(`{"olm_operators":[{"name":"lso"}]}`, http.StatusConflict), "olm_operators")
	patch(`{"operator_bundles":[{"id":"virtualization"}]}`, http.StatusConflict)
}

func TestRequirementsTellWhatEveryOperatorAdds(t *testing.T) {
	t.Parallel()
	s := newService(t)
	find := func(fields map[string]any, name string) map[string]any {
		c := s.cluster(fields)
		got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/preflight-requirements", nil).Object()
		for _, entry := range got["operators"].([]any) {
			if o := entry.(map[string]any); o["operator_name"] == name {
				return o
			}
		}
		return nil
	}
	odf := find(nil, "odf")
	require.Equal(t, []any{"lso"}, odf["dependencies"])
	worker := odf["requirements"].(map[string]any)["worker"].(map[string]any)
	require.Equal(t, map[string]any{"cpu_cores": 8.0, "ram_mib": 19456.0}, worker["quantitative"])
	require.NotEmpty(t, worker["qualitative"])
	lso := find(nil, "lso")
	require.Equal(
		t,
		map[string]any{
			"master": map[string]any{"qualitative": []any{}, "quantitative": map[string]any{}},
			"worker": map[string]any{"qualitative": []any{}, "quantitative": map[string]any{}},
		},
		lso["requirements"],
	)
	require.Equal(t, []any{}, lso["dependencies"])
	mce := find(map[string]any{"control_plane_count": 1}, "mce")
	require.EqualValues(t, 8, mce["requirements"].(map[string]any)["master"].(map[string]any)["quantitative"].(map[string]any)["cpu_cores"])
}
