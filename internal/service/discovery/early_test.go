package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestCheckThatFailedBeforeItsStepWasArmedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	l.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = model.ClusterPreparingForInstallation })
	m.set(t, func(h *model.Host) { h.Status = model.HostPreparingForInstallation })
	require.NoError(t, m.reply(t, wire.StepReply{
		StepType: wire.StepTypeContainerImageAvailability, StepID: "unasked", ExitCode: 1,
		Output: `{"images": [{"name": "quay.io/release:1", "result": "failure"}]}`,
	}))
	m.arm(t, c, string(wire.StepTypeContainerImageAvailability), "container-image-availability-1")
	l.refresh(t, c.ID)
	require.Equal(t, model.HostPreparingFailed, m.read(t).Status)
	rows, err := l.store.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, model.ActivityReported, rows[0].State)
	require.Equal(t, 1, rows[0].ExitCode)
}
