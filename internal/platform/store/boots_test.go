package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// register lets a host announce a boot, as discovery does.
func register(t *testing.T, s *store.Store, h *model.Host, boot string) {
	t.Helper()
	_, err := s.RegisterHost(t.Context(), h.InfraEnvID, h.ID,
		func() *model.Host {
			return &model.Host{
				Kind: model.KindHost, Status: model.HostDiscovering, Role: model.RoleAutoAssign, AgentSteps: model.FineSteps, Boot: boot,
			}
		},
		func(h *model.Host, created bool, tx *store.Tx) error {
			h.Boot = boot
			if !created {
				tx.FailStepsOfOtherBoots(h, 75, "booted again")
			}
			return nil
		})
	require.NoError(t, err)
}

func ofBoot(step model.PendingActivity, boot string) model.PendingActivity {
	step.Fence.Boot = boot
	return step
}

func stateOf(t *testing.T, s *store.Store, c *model.Cluster, id string) model.PendingActivity {
	t.Helper()
	list, err := s.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	at := slices.IndexFunc(list, func(i model.PendingActivity) bool { return i.ID == id })
	require.NotEqual(t, -1, at, id)
	return list[at]
}

func TestStepOfAnEarlierBootIsNeitherHandedOutNorLeftOpen(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	setAttempt(t, s, c, 1)
	setHost(t, s, h, func(h *model.Host) { h.Status = model.HostInstalling })
	register(t, s, h, "boot-1")
	for _, id := range []string{"image-write-1", "image-write-2"} {
		_, err := s.ArmActivity(t.Context(), ofBoot(writing(c, h, id, "run-"+id, 1), "boot-1"))
		require.NoError(t, err)
		steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
		require.NoError(t, err)
		require.Len(t, steps, 1, "the step is for this boot")
		require.Equal(t, "boot-1", steps[0].Fence.Boot)
	}
	// A host whose boot changes without its registration, as under a service of another version.
	setHost(t, s, h, func(h *model.Host) { h.Boot = "boot-2" })
	steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, s.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, steps)
	register(t, s, h, "boot-2")
	ended := stateOf(t, s, c, "image-write-2")
	require.Equal(t, model.ActivityReported, ended.State, "its workflow learns of it")
	require.Equal(t, 75, ended.ExitCode)

	_, err = s.ArmActivity(t.Context(), ofBoot(writing(c, h, "image-write-3", "run-3", 1), "boot-1"))
	require.ErrorIs(t, err, model.ErrUnavailable, "the host booted meanwhile: it is asked for once more")
	_, err = s.ArmActivity(t.Context(), ofBoot(writing(c, h, "image-write-4", "run-4", 1), "boot-2"))
	require.NoError(t, err)
	register(t, s, h, "boot-2") // the agent was restarted without its state
	steps, err = s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
}

// A workflow of a host that was deleted still runs when the host registers as a new one.
func TestAttemptsOfADeletedHostAreCountedOn(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	setHost(t, s, h, func(h *model.Host) { h.WorkflowAttempt = 3 })
	require.NoError(t, s.DeleteHost(t.Context(), h.InfraEnvID, h.ID, func(*model.Host, *store.Tx) error { return nil }))
	register(t, s, h, "boot-9")
	again, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, 3, again.WorkflowAttempt)
	require.Equal(t, "boot-9", again.Boot)
}
