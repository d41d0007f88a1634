package sim_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
	"slipway/internal/sim"
)

func TestReadDiscoveryFindsWhatTheAgentIsTold(t *testing.T) {
	t.Parallel()
	env := &model.InfraEnv{ID: uuid.New(), Name: "lab", PullSecret: `{"auths":{}}`}
	config, err := ignition.Discovery(ignition.DiscoveryInput{
		InfraEnv: env, ServiceURL: "http://192.0.2.1:8090", AgentToken: `a "token"`,
		Agent: ignition.Agent{URL: "http://192.0.2.1:8090/agent", SHA256: strings.Repeat("ab", 32), Version: "slipway/agent:1 of today"},
	})
	require.NoError(t, err)
	found, err := sim.ReadDiscovery(config)
	require.NoError(t, err)
	require.Equal(t, sim.Discovery{
		ServiceURL: "http://192.0.2.1:8090", InfraEnvID: env.ID, AgentVersion: "slipway/agent:1 of today", Token: `a "token"`,
	}, found)
}

func TestReadDiscoveryRefusesAnIgnitionWithoutAgent(t *testing.T) {
	t.Parallel()
	_, err := sim.ReadDiscovery([]byte(`{"ignition":{"version":"3.2.0"}}`))
	require.ErrorContains(t, err, "no agent.service")
}
