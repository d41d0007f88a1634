package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

func TestClustersOfAnArchitectureWithoutAControllerAreRefused(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := prepare(t, func(*model.Cluster) {}, model.RoleMaster, model.RoleMaster, model.RoleMaster, model.RoleWorker)
	for i, architecture := range []string{"x86_64", "s390x", "x86_64", "ppc64le"} {
		_, err := p.store.UpdateHost(t.Context(), p.hosts[i].InfraEnvID, p.hosts[i].ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory.CPU.Architecture = architecture
			return nil
		})
		require.NoError(t, err)
	}
	programs := map[string]wire.AgentProgram{"x86_64": {Path: "/controller/slipway-controller-amd64"}}
	p.files.ControllerPrograms = func() (map[string]wire.AgentProgram, error) { return programs, nil }
	require.ErrorContains(t, p.generate(), "host master-1: require a program slipway-controller for s390x, the service has none: "+
		"build it with make build, name its folder in SLIPWAY_AGENT_BINARIES, or an image with it in CONTROLLER_IMAGE")

	p.files.ControllerImage = "registry.example.com/controller@sha256:1"
	require.NoError(t, p.generate(), "an image has what it has")

	p.files.ControllerImage, programs["s390x"] = "", wire.AgentProgram{Path: "/controller/slipway-controller-s390x"}
	require.NoError(t, p.generate(), "workers do not run it")
}
