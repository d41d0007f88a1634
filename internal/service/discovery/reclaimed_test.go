package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestHostThatCameBackFromItsReclaimIsNotRebootedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.set(t, func(h *model.Host) {
		h.Status, h.FormerClusterID = model.HostReclaimingRebooting, h.ClusterID
		h.LeaveCluster()
	})
	m.arm(t, c, "reboot-for-reclaim", "reboot-1")
	m.register(t)
	require.Equal(t, model.HostDiscoveringUnbound, m.read(t).Status)
	require.Equal(t, model.ActivitySuperseded, m.activity(t, c, "reboot-1").State, "its reply was lost in the reboot")
}

func TestMediaOfAHostThatWasGivenUpOpensNoDecision(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageWritingImageToDisk)
	m.set(t, func(h *model.Host) { h.Status = model.HostError })
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-00000001", ExitCode: 256}))
	require.Equal(t, model.MediaDisconnected, m.read(t).MediaStatus)
	require.False(t, m.read(t).DecisionOpen, "no workflow takes one, and the cluster would wait for it")
}
