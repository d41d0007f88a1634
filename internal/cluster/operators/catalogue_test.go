package operators_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

func TestNamesAreSorted(t *testing.T) {
	t.Parallel()
	require.True(t, slices.IsSorted(operators.Names()))
	require.Nil(t, operators.Find("ocs"))
}

// beyondV2 are operators that the v2 API does not have, with the reason of each.
var beyondV2 = map[string]string{}

// TestCatalogueIsThatOfTheContract compares with GET /v2/supported-operators and
// GET /v2/operators/bundles of openshift/assisted-service (commit 063b257950f7).
func TestCatalogueIsThatOfTheContract(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/operators.json")
	require.NoError(t, err)
	var live []string
	require.NoError(t, json.Unmarshal(data, &live))
	require.ElementsMatch(t, slices.AppendSeq(live, maps.Keys(beyondV2)), operators.Names())

	data, err = os.ReadFile("testdata/bundles.json")
	require.NoError(t, err)
	var bundles []struct {
		ID, Title string
		Operators []string
		Optional  []string `json:"optional_operators"`
	}
	require.NoError(t, json.Unmarshal(data, &bundles))
	require.Len(t, bundles, 2)
	for _, want := range bundles {
		got, err := operators.FindBundle(want.ID, false)
		require.NoError(t, err)
		require.Equal(t, want.Title, got.Title)
		require.Equal(t, want.Operators, got.Operators)
		require.Equal(t, want.Optional, got.Optional)
	}
}

func TestMonitoredOperators(t *testing.T) {
	t.Parallel()
	c := newWorld().c
	builtin := operators.Builtin(c, true)
	require.Equal(t, []string{"console", "cvo"}, []string{builtin[0].Name, builtin[1].Name})
	require.Len(t, operators.Builtin(c, false), 1)
	require.Empty(t, operators.Monitored(c))
	c.OLMOperators = []model.OLMOperator{{Name: "lso", Properties: "{}"}, {Name: "lvm"}}
	require.Equal(t, []model.MonitoredOperator{
		{
			Name: "lso", Type: "olm", Timeout: 70 * time.Minute, Properties: "{}",
			Namespace: "openshift-local-storage", SubscriptionName: "local-storage-operator",
		},
		{Name: "lvm", Type: "olm", Timeout: 30 * time.Minute, Namespace: "openshift-storage", SubscriptionName: "lvms-operator"},
	}, operators.Monitored(c))
	c.OpenShiftVersion = "4.11.20"
	require.Equal(t, "odf-lvm-operator", operators.Monitored(c)[1].SubscriptionName)
}
