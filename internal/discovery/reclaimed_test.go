package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
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
	require.Equal(t, model.InstructionSuperseded, m.instruction(t, c, "reboot-1").State, "its reply was lost in the reboot")
}
