package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// keptOfActivity are the fields of a pending activity that arming does not write.
var keptOfActivity = notCarried{
	"State": "a new row is pending", "CreatedAt": "the store sets it",
	"SentAt": "delivery sets it", "ReportedAt": "replies set it", "DoneAt": "forwarding sets it",
	"ExitCode": "replies write it", "Output": "replies write it", "Error": "replies write it",
}

// armed makes an activity and the host it is for, before one of its fields is another.
func armed(t *testing.T, s *store.Store) model.PendingActivity {
	t.Helper()
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	id := uuid.NewString()
	return model.PendingActivity{
		ID: id, Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: "image-write",
		WorkflowID: "host:" + id, RunID: "run-1", ActivityID: id, TaskToken: []byte("token"), HeartbeatEvery: time.Minute,
	}
}

func TestEachFieldOfAPendingActivityIsKept(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	// Values that the database takes and that the host of the step satisfies.
	values := map[string]func(i *model.PendingActivity){
		"Kind":                 func(i *model.PendingActivity) { i.Kind = model.ActivityStage },
		"Fence.Takes":          func(i *model.PendingActivity) { i.Fence.Takes = model.HostStatuses{model.HostDiscovering} },
		"Fence.ClusterAttempt": func(i *model.PendingActivity) { i.Fence.ClusterAttempt = 3 },
		"Fence.HostAttempt":    func(i *model.PendingActivity) { i.Fence.HostAttempt = 4 },
		"Fence.HostTry":        func(i *model.PendingActivity) { i.Fence.HostTry = 5 },
		"Fence.Boot":           func(i *model.PendingActivity) { i.Fence.Boot = "boot-6" },
		"InfraEnvID":           func(i *model.PendingActivity) { i.InfraEnvID, i.HostID = movedHost(t, s) },
		"HostID":               func(i *model.PendingActivity) { i.InfraEnvID, i.HostID = movedHost(t, s) },
		"TaskToken":            func(i *model.PendingActivity) { i.TaskToken = []byte("other") },
	}
	eachField[model.PendingActivity](t, keptOfActivity, func(t *testing.T, l leaf, carried bool) {
		i := armed(t, s)
		_, err := s.UpdateCluster(t.Context(), i.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
			c.InstallAttempt = 3
			return nil
		})
		require.NoError(t, err)
		_, err = s.UpdateHost(t.Context(), *i.InfraEnvID, *i.HostID, func(h *model.Host, _ *store.Tx) error {
			h.WorkflowAttempt, h.Boot = 4, "boot-6"
			return nil
		})
		require.NoError(t, err)
		if change := values[l.name]; change != nil {
			change(&i)
		} else {
			l.change(&i)
		}
		want := l.of(&i)
		got, err := s.ArmActivity(t.Context(), i)
		require.NoError(t, err)
		isCarried(t, carried, want, l.of(&got))
		listed, err := s.PendingActivities(t.Context(), i.ClusterID)
		require.NoError(t, err)
		require.Equal(t, got, listed[len(listed)-1], "both read the same")
		if i.Kind == model.ActivityStep && l.name != "HostID" && l.name != "InfraEnvID" {
			last, err := s.LastStep(t.Context(), i.WorkflowID, i.RunID, i.Type)
			require.NoError(t, err)
			require.Equal(t, got, last)
			sent, err := s.DeliverSteps(t.Context(), *i.InfraEnvID, *i.HostID, time.Time{})
			require.NoError(t, err)
			require.Len(t, sent, 1)
			require.False(t, sent[0].SentAt.IsZero())
			sent[0].State, sent[0].SentAt = got.State, got.SentAt
			require.Equal(t, got, sent[0])
		}
	})
}

func movedHost(t *testing.T, s *store.Store) (infraEnv, id *uuid.UUID) {
	t.Helper()
	h := newHost(t, s, nil)
	return &h.InfraEnvID, &h.ID
}

func TestReplyWritesEachOfItsFields(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	i := armed(t, s)
	_, err := s.ArmActivity(t.Context(), i)
	require.NoError(t, err)
	_, err = s.UpdateHost(t.Context(), *i.InfraEnvID, *i.HostID, func(h *model.Host, tx *store.Tx) error {
		tx.StepReplied(h, store.Reply{StepID: i.ID, ExitCode: 7, Output: "out", Error: "err"})
		return nil
	})
	require.NoError(t, err)
	var got model.PendingActivity
	forwarded, err := s.ForwardReported(t.Context(), time.Minute, func(i model.PendingActivity) error { got = i; return nil })
	require.NoError(t, err)
	require.True(t, forwarded)
	require.Equal(t, []any{7, "out", "err", model.ActivityReported}, []any{got.ExitCode, got.Output, got.Error, got.State})
	require.False(t, got.ReportedAt.IsZero())
	list, err := s.PendingActivities(t.Context(), i.ClusterID)
	require.NoError(t, err)
	require.False(t, list[0].DoneAt.IsZero())
	require.Equal(t, model.ActivityDone, list[0].State)
}
