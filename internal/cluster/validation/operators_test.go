package validation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func ofOperators(results []model.ValidationResult) []model.ValidationResult {
	return slices.DeleteFunc(
		slices.Clone(results),
		func(r model.ValidationResult) bool { return r.Category != validation.CategoryOperators },
	)
}

func clusterResults(c *model.Cluster, hosts []*model.Host) []model.ValidationResult {
	return validation.Cluster(validation.ClusterFacts{
		Cluster: c, Hosts: hosts, Requirements: openshift.RequirementsFor(version), Options: validation.DefaultOptions(), Now: now,
	})
}

func hostResults(c *model.Cluster, hosts []*model.Host) []model.ValidationResult {
	return validation.Host(hostFacts(c, hosts))
}

func TestOperatorsThatAreNotChosenPassAsDisabled(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(5)
	for name, results := range map[string][]model.ValidationResult{
		"host": hostResults(c, hosts), "cluster": clusterResults(c, hosts),
	} {
		got := ofOperators(results)
		require.Len(t, got, len(operators.All()), name)
		require.True(t, slices.IsSortedFunc(got, func(a, b model.ValidationResult) int { return strings.Compare(a.ID, b.ID) }))
		_, renamed := find(got, "numa-resources-requirements-satisfied")
		require.True(t, renamed, name)
		for _, r := range got {
			require.Equal(t, ok, r.Status, "%s: %s", r.ID, r.Message)
			require.Contains(t, r.Message, "disabled")
		}
	}
}

func TestRulesOfOperatorsAreInTheDocument(t *testing.T) {
	t.Parallel()
	for _, r := range validation.HostRules() {
		require.True(t, r.ID.Valid(), "%s", r.ID)
	}
	for _, r := range validation.ClusterRules() {
		require.True(t, r.ID.Valid(), "%s", r.ID)
	}
}

func TestChosenOperatorsAddToTheRole(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(5)
	hosts[0].Inventory.CPU.Count, hosts[0].Inventory.CPU.Flags = 7, []string{"vmx"}
	cores, _ := find(hostResults(c, hosts), string(wire.HostValidationIDHasCPUCoresForRole))
	require.Equal(t, ok, cores.Status)
	c.OLMOperators = []model.OLMOperator{{Name: "cnv"}}
	results := hostResults(c, hosts)
	cores, _ = find(results, string(wire.HostValidationIDHasCPUCoresForRole))
	require.Equal(t, model.ValidationFailure, cores.Status)
	require.Contains(t, cores.Message, "at least 8 CPU cores for the role master, found 7")
	least, _ := find(results, string(wire.HostValidationIDHasMinCPUCores))
	require.Equal(t, ok, least.Status, "operators are no part of what any host needs")
}

func TestGPUOfOpenShiftAIIsShownOnlyWithIt(t *testing.T) {
	t.Parallel()
	const id = "openshift-ai-gpu-requirements-satisfied"
	c, hosts := fleet(5)
	_, shown := find(clusterResults(c, hosts), id)
	require.False(t, shown)
	c.OLMOperators = []model.OLMOperator{{Name: "openshift-ai"}}
	r, shown := find(clusterResults(c, hosts), id)
	require.True(t, shown)
	require.Equal(t, ok, r.Status)
	require.Contains(t, r.Message, "choose nvidia-gpu or amd-gpu")
}
