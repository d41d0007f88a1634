package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/controller"
)

// freed returns the actions of a plan for one host of the platform baremetal.
func freed(t *testing.T, provisioned bool, change func(host map[string]any), machines ...string) []controller.Action {
	t.Helper()
	host := bareMetalHost("host", "test-master-0")
	change(host)
	metal := &controller.Metal{Provisioned: provisioned, Hosts: []unstructured.Unstructured{{Object: host}}}
	for _, name := range machines {
		metal.Machines = append(metal.Machines, unstructured.Unstructured{Object: machine(name, "worker")})
	}
	return controller.Missing(controller.State{Announced: true, Metal: metal}).Duties
}

func of(t *testing.T, actions []controller.Action) *unstructured.Unstructured {
	t.Helper()
	require.Len(t, actions, 1)
	update, ok := actions[0].(controller.UpdateBareMetalHost)
	require.True(t, ok, "%#v", actions[0])
	return update.Object
}

// The cases follow UpdateBMHs of openshift/assisted-installer (src/assisted_installer_controller).
func TestBareMetalHostsAreFreed(t *testing.T) {
	t.Parallel()
	unchanged := func(map[string]any) {}
	state := func(name string) func(map[string]any) {
		return func(h map[string]any) { h["status"] = map[string]any{"provisioning": map[string]any{"state": name}} }
	}
	worker := func(h map[string]any) { delete(h["spec"].(map[string]any), "consumerRef") }

	master := of(t, freed(t, true, unchanged))
	require.NotContains(t, master.GetAnnotations(), "baremetalhost.metal3.io/paused")
	require.Contains(t, master.GetAnnotations(), "baremetalhost.metal3.io/status", "the operator reads it")
	require.Empty(t, freed(t, true, state("externally provisioned")), "the operator has it already")
	require.NotEmpty(t, freed(t, true, state("unmanaged")))

	require.Empty(t, freed(t, true, worker), "it waits for a Machine")
	require.Equal(t, "test-worker-0-0", text(of(t, freed(t, true, worker, "test-worker-0-0")), "spec", "consumerRef", "name"))
	require.Empty(t, freed(t, false, worker), "it waits for a Machine")

	actions := freed(t, false, unchanged)
	require.Len(t, actions, 1)
	require.IsType(t, controller.SetHardware{}, actions[0], "no operator reads the annotation")
	described := func(h map[string]any) { h["status"] = map[string]any{"hardware": map[string]any{"hostname": "host"}} }
	require.NotContains(t, of(t, freed(t, false, described)).GetAnnotations(), "baremetalhost.metal3.io/status")
}
