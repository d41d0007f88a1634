package discovery_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

func TestRegistrationNeedsAnEnvironmentAndAClusterThatTakesHosts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status model.ClusterStatus
		kind   model.HostKind
	}{
		"joins an insufficient cluster":           {model.ClusterInsufficient, model.KindHost},
		"joins a ready cluster":                   {model.ClusterReady, model.KindHost},
		"joins a cluster that waits for input":    {model.ClusterPendingForInput, model.KindHost},
		"joins an existing cluster as day-2 host": {model.ClusterAddingHosts, model.KindAddToExistingClusterHost},
		"is refused by an installing cluster":     {status: model.ClusterInstalling},
		"is refused by a preparing cluster":       {status: model.ClusterPreparingForInstallation},
		"is refused by an installed cluster":      {status: model.ClusterInstalled},
		"is refused by a failed cluster":          {status: model.ClusterError},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t, func(c *model.Cluster) { c.Status = test.status })
			id := uuid.New()
			h, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: env.ID, HostID: id})
			if test.kind == "" {
				require.ErrorIs(t, err, model.ErrConflict)
				require.Equal(t, 1, l.events(t, c.ID)["host_registration_failed"])
				_, err = l.store.Host(t.Context(), env.ID, id)
				require.ErrorIs(t, err, model.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.kind, h.Kind)
			require.Equal(t, model.HostDiscovering, h.Status)
			require.Equal(t, model.InstallStep, h.AgentSteps)
			require.NotEmpty(t, h.StatusInfo)
			require.False(t, h.RegisteredAt.IsZero())
		})
	}
	_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: uuid.New(), HostID: uuid.New()})
	require.ErrorIs(t, err, model.ErrNotFound)
}

func TestHostThatAUserDeletedComesBackWithABootOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	pool := l.infraEnv(t, nil)
	keeps := func(*model.Cluster, *model.Host, *store.Tx) error { return nil }
	for name, test := range map[string]struct {
		env   *model.InfraEnv
		bound *uuid.UUID
		again discovery.RegisterInput
		back  bool
	}{
		"an agent of ours that still runs":   {env, &c.ID, discovery.RegisterInput{Again: true, Boot: "boot-1"}, false},
		"one in a pool":                      {pool, nil, discovery.RegisterInput{Again: true, Boot: "boot-1"}, false},
		"one with the token of its image":    {env, &c.ID, discovery.RegisterInput{Again: true, Boot: "boot-1", ByImage: true}, false},
		"a boot":                             {env, &c.ID, discovery.RegisterInput{Boot: "boot-2", AgentSteps: model.FineSteps}, true},
		"a restart of the agent":             {env, &c.ID, discovery.RegisterInput{Boot: "boot-1", AgentSteps: model.FineSteps}, true},
		"an agent of another implementation": {env, &c.ID, discovery.RegisterInput{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := test.again
			in.InfraEnvID, in.HostID = test.env.ID, uuid.New()
			_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: in.InfraEnvID, HostID: in.HostID, Boot: "boot-1"})
			require.NoError(t, err)
			require.NoError(t, l.store.DeleteHostOf(t.Context(), test.bound, in.InfraEnvID, in.HostID, keeps))
			for range 2 { // it asks until somebody boots it
				if _, err = l.service.Register(t.Context(), in); test.back {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, model.ErrNotFound)
				require.ErrorContains(t, err, "host "+in.HostID.String()+" was deleted: boot it from the discovery image to register it again")
			}
			_, err = l.store.Host(t.Context(), in.InfraEnvID, in.HostID)
			require.Equal(t, test.back, err == nil, "%v", err)
		})
	}
	fresh := discovery.RegisterInput{InfraEnvID: env.ID, HostID: uuid.New(), Again: true}
	_, err := l.service.Register(t.Context(), fresh)
	require.NoError(t, err, "a restored database does not know the host")
}

func TestHostWithoutAClusterIsDiscoveredUnbound(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(t)
	env := l.infraEnv(t, nil)
	m := l.machine(env, 0)
	m.boot(t)
	m.reaches(t, model.HostKnownUnbound)
	require.Equal(t, "/dev/sda", m.read(t).InstallationDiskPath)

	m2 := l.machine(env, 1)
	m2.cpus = 1
	m2.boot(t)
	m2.reaches(t, model.HostInsufficientUnbound)
}

func TestRegistrationAgain(t *testing.T) {
	t.Parallel()
	const rebooting, writing, joined = model.StageRebooting, model.StageWritingImageToDisk, model.StageJoined
	tests := map[string]struct {
		from      model.HostStatus
		stage     model.Stage
		cluster   model.ClusterStatus
		to        model.HostStatus
		forgotten bool // facts of discovery are asked again
		stepEnds  bool // the open step of the workflow ends as interrupted
		refused   bool
	}{
		"starts discovery over":     {from: model.HostKnown, to: model.HostDiscovering, forgotten: true},
		"brings a silent host back": {from: model.HostDisconnected, to: model.HostDiscovering, forgotten: true},
		"continues a reset":         {from: model.HostResettingPendingUserAction, to: model.HostDiscovering, forgotten: true},
		"takes a preparing host back": {
			from: model.HostPreparingForInstallation, cluster: model.ClusterPreparingForInstallation, to: model.HostKnown,
			forgotten: true, stepEnds: true,
		},
		"fails a host that was writing": {
			from: model.HostInstallingInProgress, stage: writing, cluster: model.ClusterInstalling, to: model.HostError,
			stepEnds: true,
		},
		"fails a host before its first stage": {
			from: model.HostInstalling, cluster: model.ClusterInstalling, to: model.HostError, stepEnds: true,
		},
		"means a wrong boot order after a reboot": {
			from: model.HostInstallingInProgress, stage: rebooting, cluster: model.ClusterInstalling,
			to: model.HostInstallingPendingUserAction,
		},
		"means a wrong boot order later on": {
			from: model.HostInstallingInProgress, stage: joined, cluster: model.ClusterInstalling,
			to: model.HostInstallingPendingUserAction,
		},
		"leaves a failed host failed": {from: model.HostError, stage: writing, cluster: model.ClusterInstalling, to: model.HostError},
		"leaves an installed host installed": {
			from: model.HostInstalled, stage: model.StageDone, cluster: model.ClusterInstalled, to: model.HostInstalled,
		},
		"is refused for a cancelled host": {
			from: model.HostCancelled, cluster: model.ClusterCancelled, to: model.HostCancelled, refused: true,
		},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.answerAll(t)
			l.refresh(t, c.ID)
			m.set(t, func(h *model.Host) {
				h.Status, h.Stage, h.Role, h.RequestedHostname = test.from, test.stage, model.RoleMaster, "chosen"
			})
			if test.cluster != "" {
				l.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = test.cluster })
			}
			m.arm(t, c, "image-write", "image-write-1")

			_, err := l.service.Register(t.Context(), discovery.RegisterInput{
				InfraEnvID: env.ID, HostID: m.id, AgentVersion: "agent:2", AgentSteps: model.FineSteps,
			})
			if test.refused {
				require.ErrorIs(t, err, model.ErrConflict)
			} else {
				require.NoError(t, err)
				require.Equal(t, "agent:2", m.read(t).DiscoveryAgentVersion)
			}
			h := m.read(t)
			require.Equal(t, test.to, h.Status)
			require.Equal(t, test.forgotten, h.Inventory == nil)
			require.Equal(t, test.forgotten, len(h.Facts) == 0)
			require.Equal(t, "chosen", h.RequestedHostname, "what the user chose stays")
			i := m.activity(t, c, "image-write-1")
			if test.stepEnds {
				require.Equal(t, model.ActivityReported, i.State)
				require.Equal(t, wire.ExitInterrupted, i.ExitCode)
				require.Contains(t, i.Error, "rebooted")
			} else {
				require.Equal(t, model.ActivityPending, i.State)
			}
			require.Equal(t, test.to == model.HostError && test.stepEnds, h.DecisionOpen)
		})
	}
}

func TestHostThatComesUpFromItsDiskLeavesTheWrongBootOrder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageRebooting)
	m.register(t)
	require.Equal(t, model.HostInstallingPendingUserAction, m.read(t).Status)
	l.refresh(t, c.ID)
	require.Equal(t, model.ClusterInstallingPendingUserAction, l.readCluster(t, c.ID).Status)

	require.NoError(t, l.progress().Stage(t.Context(), env.ID, m.id, model.StageConfiguring, ""))
	require.Equal(t, model.HostInstallingInProgress, m.read(t).Status)
	l.refresh(t, c.ID)
	require.Equal(t, model.ClusterInstalling, l.readCluster(t, c.ID).Status)
}

// installing puts the machine, and two more masters, into a running installation.
func (m *machine) installing(t *testing.T, c *model.Cluster, stage model.Stage) {
	t.Helper()
	status := model.HostInstallingInProgress
	if stage == "" {
		status = model.HostInstalling
	}
	m.set(t, func(h *model.Host) { h.Status, h.Stage, h.Role = status, stage, model.RoleMaster })
	for i := range 2 {
		other := m.machine(&model.InfraEnv{ID: m.infraEnv}, 5+i)
		other.register(t)
		other.set(t, func(h *model.Host) { h.Status, h.Role = model.HostInstallingInProgress, model.RoleMaster })
	}
	m.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
}

// arm makes a workflow wait for a step of the machine.
func (m *machine) arm(t testing.TB, c *model.Cluster, step, id string) {
	t.Helper()
	m.armAs(t, c, model.ActivityStep, step, id)
}

// Ids of pending activities are unique in the table: the tests share one.
func (m *machine) armAs(t testing.TB, c *model.Cluster, kind model.ActivityKind, what, id string) {
	t.Helper()
	id += "-" + m.id.String()
	_, err := m.store.ArmActivity(t.Context(), model.PendingActivity{
		ID: id, Kind: kind, ClusterID: c.ID, InfraEnvID: &m.infraEnv, HostID: &m.id, Type: what, Args: []string{"{}"},
		WorkflowID: "host:" + m.id.String(), RunID: "run-1", ActivityID: id, TaskToken: []byte("token"), Attempt: 1, HeartbeatEvery: 1,
	})
	require.NoError(t, err)
}

func (m *machine) activity(t testing.TB, c *model.Cluster, id string) model.PendingActivity {
	t.Helper()
	all, err := m.store.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	for _, i := range all {
		if i.ID == id+"-"+m.id.String() {
			return i
		}
	}
	require.FailNow(t, "no such pending activity", id)
	return model.PendingActivity{}
}

// Attack: one image, any number of hosts.
func TestInfraEnvTakesABoundedNumberOfHosts(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.maxHosts = 2 })
	env := l.infraEnv(t, nil)
	ids := []uuid.UUID{uuid.New(), uuid.New()}
	for range 2 { // the same hosts again do not count twice
		for _, id := range ids {
			_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: env.ID, HostID: id})
			require.NoError(t, err)
		}
	}
	_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: env.ID, HostID: uuid.New()})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 2, found 2")
}

// Attack: an image registers hosts until its InfraEnv takes no others.
func TestNewHostsOfAnImageAreCountedByTheMinute(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.newHosts, o.maxHosts = 3, 8 })
	env, other := l.infraEnv(t, nil), l.infraEnv(t, nil)
	register := func(env, id uuid.UUID) error {
		_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: env, HostID: id})
		return err
	}
	known := uuid.New()
	require.NoError(t, register(env.ID, known))
	// Many at once: no more are let in than one after the other.
	taken := func(n int) (let, later, full int) {
		var mu sync.Mutex
		var at sync.WaitGroup
		for range n {
			at.Go(func() {
				err := register(env.ID, uuid.New())
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					let++
				case errors.Is(err, model.ErrTooMany):
					later++
				case errors.Is(err, model.ErrConflict):
					full++
				default:
					assert.NoError(t, err)
				}
			})
		}
		at.Wait()
		return let, later, full
	}
	let, later, full := taken(10)
	require.Equal(t, []int{2, 8, 0}, []int{let, later, full})
	require.NoError(t, register(env.ID, known), "a host that is known comes again at any time")
	require.NoError(t, register(other.ID, uuid.New()), "the image of another InfraEnv is not held up")
	l.pass(time.Minute + time.Second)
	let, later, full = taken(5)
	require.Equal(t, []int{3, 2, 0}, []int{let, later, full})
	l.pass(time.Minute + time.Second)
	let, later, full = taken(5)
	require.Equal(t, []int{2, 0, 3}, []int{let, later, full}, "the InfraEnv has eight")
}
