package discovery_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/programsig"
	"slipway/internal/wire"
)

func TestUpgradeIsSignedForTheHostAndARefusalIsAnEvent(t *testing.T) {
	t.Parallel()
	signer := programsig.Signer{Seeds: func() [][]byte { return [][]byte{bytes.Repeat([]byte{1}, programsig.SeedSize)} }}
	l := newLab(t, release, func(o *labOptions) { o.signer = signer })
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.bootID = "boot-1"
	m.register(t)
	steps := m.pollAs(t, "ours:1")
	require.Len(t, steps, 1)
	require.Equal(t, wire.StepTypeUpgradeAgent, steps[0].StepType)
	var upgrade wire.AgentUpgrade
	require.NoError(t, json.Unmarshal([]byte(steps[0].Args[0]), &upgrade))
	key, err := programsig.ParsePublicKey(signer.PublicKey())
	require.NoError(t, err)
	change := programsig.Change{
		HostID: m.id.String(), Boot: "boot-1", From: "ours:1", To: "ours:2", Architecture: "x86_64", SHA256: "abc",
	}
	require.NoError(t, key.Verify(change, upgrade.Programs["x86_64"].Signatures))

	require.NoError(t, m.reply(t, wire.StepReply{
		StepType: wire.StepTypeUpgradeAgent, StepID: steps[0].StepID,
		Output: `{"agent_image":"ours:2","result":"failure","refused":"another program was served"}`,
	}))
	require.Equal(t, 1, l.events(t, c.ID)["upgrade_agent_failed"])
	require.Equal(t, 1, l.events(t, c.ID)["upgrade_agent_refused"])
}
