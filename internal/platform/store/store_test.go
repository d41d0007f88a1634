package store_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
	"slipway/internal/testing/pgtest"
)

// xorSealer stands in for the real sealer: reversible, and bound to its row.
type xorSealer struct{}

func (xorSealer) Header() []byte { return nil }

func (xorSealer) Seal(_ string, plain, aad []byte) []byte           { return xor(plain, aad) }
func (xorSealer) Open(_ string, sealed, aad []byte) ([]byte, error) { return xor(sealed, aad), nil }

func xor(data, key []byte) []byte {
	out := make([]byte, len(data))
	for i := range data {
		out[i] = data[i] ^ key[i%len(key)] ^ 0x5a
	}
	return out
}

func open(t testing.TB) (*store.Store, string) {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, url
}

func newCluster(t testing.TB, s *store.Store) *model.Cluster {
	t.Helper()
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, Name: "prod", Status: model.ClusterInsufficient, WorkflowStarted: true,
		PullSecret: "s3cret", ControlPlaneCount: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	}
	require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	return c
}

func newHost(t testing.TB, s *store.Store, clusterID *uuid.UUID) *model.Host {
	t.Helper()
	e := &model.InfraEnv{ID: uuid.New(), ClusterID: clusterID, Name: "env", PullSecret: "s3cret"}
	require.NoError(t, s.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
	h, err := s.RegisterHost(t.Context(), e.ID, uuid.New(), func() *model.Host {
		return &model.Host{
			ClusterID: clusterID, Kind: model.KindHost, Status: model.HostDiscovering,
			Role: model.RoleAutoAssign, AgentSteps: model.FineSteps,
		}
	}, func(h *model.Host, _ bool, tx *store.Tx) error {
		tx.CheckIn(h)
		return nil
	})
	require.NoError(t, err)
	return h
}

func TestClusterComesBackAsWritten(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	got, err := s.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "s3cret", got.PullSecret.Reveal())
	require.Equal(t, c.MachineNetworks, got.MachineNetworks)
	require.Equal(t, model.ClusterInsufficient, got.Status)

	updated, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
		c.Status, c.BaseDNSDomain = model.ClusterReady, "example.com"
		tx.Event(model.Event{Name: "x", Category: "user", Severity: model.SeverityInfo, ClusterID: &c.ID, Message: "m", At: tx.Now()})
		return nil
	})
	require.NoError(t, err)
	require.False(t, updated.StatusUpdatedAt.Before(got.StatusUpdatedAt))
	page, err := s.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)
}

func TestFailedUpdateLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
		c.Name = "other"
		tx.Event(model.Event{Name: "x", Category: "user", Severity: model.SeverityInfo, ClusterID: &c.ID, Message: "m", At: tx.Now()})
		return model.Conflictf("no")
	})
	require.ErrorIs(t, err, model.ErrConflict)
	got, err := s.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "prod", got.Name)
	page, err := s.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
	require.NoError(t, err)
	require.Zero(t, page.Total)
}

func TestMigrateRefusesNewerDatabase(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	require.NoError(t, store.Migrate(t.Context(), url), "a second run changes nothing")
	require.NoError(t, s.Exec(t.Context(), "update slipway.schema_version set version = 999"))
	require.ErrorIs(t, store.Migrate(t.Context(), url), store.ErrNewer)
}

func TestHostRegistrationIsIdempotentAndSurvivesDeletion(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	created := true
	again := func() {
		_, err := s.RegisterHost(t.Context(), h.InfraEnvID, h.ID, func() *model.Host {
			return &model.Host{
				ClusterID:  &c.ID,
				Kind:       model.KindHost,
				Status:     model.HostDiscovering,
				Role:       model.RoleAutoAssign,
				AgentSteps: model.InstallStep,
			}
		}, func(_ *model.Host, isNew bool, _ *store.Tx) error {
			created = isNew
			return nil
		})
		require.NoError(t, err)
	}
	again()
	require.False(t, created)
	require.NoError(t, s.DeleteHost(t.Context(), h.InfraEnvID, h.ID, func(*model.Host, *store.Tx) error { return nil }))
	_, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.ErrorIs(t, err, model.ErrNotFound)
	again()
	require.True(t, created)
	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.InstallStep, got.AgentSteps)
}

func TestPollSeesGenerationsFactsAndWaitingSteps(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.NetworkGeneration = 7
		return nil
	})
	require.NoError(t, err)
	_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
		h.Facts = model.Facts{"inventory": {AskedAt: tx.Now(), StepID: "inventory-1"}}
		h.Status, h.Stage, h.Boot = model.HostInstallingInProgress, model.StageRebooting, "boot-2"
		tx.HostsChanged(c.ID)
		return nil
	})
	require.NoError(t, err)
	v, err := s.Poll(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.HostsGeneration)
	require.Equal(t, "inventory-1", v.Facts["inventory"].StepID)
	require.Equal(t, int64(7), v.NetworkGeneration)
	require.Equal(t, []any{model.HostInstallingInProgress, model.StageRebooting, "boot-2"}, []any{v.Status, v.Stage, v.Boot})
	require.False(t, v.Waiting)
	arm(t, s, c, h, "image-write-1", "run-1")
	v, err = s.Poll(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.True(t, v.Waiting)
	_, err = s.Poll(t.Context(), h.InfraEnvID, uuid.New())
	require.ErrorIs(t, err, model.ErrNotFound)
}

func arm(t testing.TB, s *store.Store, c *model.Cluster, h *model.Host, id, run string) model.PendingActivity {
	t.Helper()
	i, err := s.ArmActivity(t.Context(), model.PendingActivity{
		ID: id, Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: "image-write",
		Args: []string{"{}"}, WorkflowID: "host:" + h.ID.String(), RunID: run, ActivityID: id, TaskToken: []byte("token-" + id), Attempt: 1,
		HeartbeatEvery: time.Minute,
	})
	require.NoError(t, err)
	return i
}

func TestPendingActivityIsForwardedOnceAndSecondReplyDoesNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	arm(t, s, c, h, "image-write-1", "run-1")
	steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
	reply := func(code int) {
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
			tx.StepReplied(h, store.Reply{StepID: "image-write-1", ExitCode: code, Output: "ok\x00\xff"})
			return nil
		})
		require.NoError(t, err)
	}
	reply(0)
	reply(1)
	var got []model.PendingActivity
	forward := func(i model.PendingActivity) error {
		got = append(got, i)
		return nil
	}
	found, err := s.ForwardReported(t.Context(), time.Minute, forward)
	require.NoError(t, err)
	require.True(t, found)
	found, err = s.ForwardReported(t.Context(), time.Minute, forward)
	require.NoError(t, err)
	require.False(t, found)
	require.Len(t, got, 1)
	require.Equal(t, 0, got[0].ExitCode)
	require.Equal(t, "ok", got[0].Output)
	i := arm(t, s, c, h, "image-write-1", "run-1")
	require.Equal(t, model.ActivityDone, i.State, "a done row is not armed again")
}

func TestNewRunVoidsTheRowsOfTheOldOne(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	arm(t, s, c, h, "a", "run-1")
	arm(t, s, c, h, "b", "run-2")
	steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Equal(t, "b", steps[0].ID)
}

func TestStageReportFinishesAwaitedStagesAndTheReboot(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	for _, stage := range []model.Stage{model.StageConfiguring, model.StageJoined, model.StageDone} {
		_, err := s.ArmActivity(t.Context(), model.PendingActivity{
			ID: string(stage), Kind: model.ActivityStage, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: string(stage),
			WorkflowID: "host:x", RunID: "run-1", ActivityID: string(stage), TaskToken: []byte("t"), HeartbeatEvery: time.Minute,
		})
		require.NoError(t, err)
	}
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
		tx.StageReached(h, []model.Stage{model.StageRebooting, model.StageConfiguring, model.StageJoined}, []string{"reboot", "install"})
		return nil
	})
	require.NoError(t, err)
	list, err := s.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	states := map[string]model.ActivityState{}
	for _, i := range list {
		states[i.ID] = i.State
	}
	require.Equal(t, map[string]model.ActivityState{"Configuring": "reported", "Joined": "reported", "Done": "pending"}, states)
}

func TestPulsesAreClaimedOnceAndComeBackWhenSomethingChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	p, ok, err := s.ClaimRefresh(t.Context(), time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, c.ID, p.SubjectID)
	_, ok, err = s.ClaimRefresh(t.Context(), time.Minute)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		tx.RefreshCluster(c.ID)
		return nil
	}))
	require.NoError(t, s.FinishRefresh(t.Context(), p, s.Now()))
	p, ok, err = s.ClaimRefresh(t.Context(), time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, s.FinishRefresh(t.Context(), p, s.Now()))
	_, ok, err = s.NextRefresh(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
}

func TestSignalsWakeTheHostAPendingActivityWaitsFor(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	signals := store.NewSignals(s, discard())
	go signals.Run(ctx)
	ch, stop := signals.Host(h.ID)
	defer stop()
	await.Receive(t, ch) // the connection is up
	arm(t, s, c, h, "a", "run-1")
	await.Receive(t, ch)
}

func TestHeartbeatsAreClaimedWhenDue(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	_, err := s.ArmActivity(t.Context(), model.PendingActivity{
		ID: "a", Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: "x",
		WorkflowID: "host:x", RunID: "r", ActivityID: "a", TaskToken: []byte("t"), HeartbeatEvery: 0,
	})
	require.NoError(t, err)
	due, err := s.DueHeartbeats(t.Context(), time.Minute)
	require.NoError(t, err)
	require.Len(t, due, 1)
	due, err = s.DueHeartbeats(t.Context(), -time.Minute)
	require.NoError(t, err)
	require.Empty(t, due, "a host that is not heard of keeps no step alive")
}
