package discovery_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func (l *lab) upToDate(t testing.TB, reading store.Reading) {
	t.Helper()
	require.NoError(t, l.evaluation.BringUpToDate(t.Context(), reading))
}

// discovered makes three machines of a cluster that answered everything.
func (l *lab) discovered(t *testing.T) (*model.Cluster, []*machine) {
	t.Helper()
	c, env := l.cluster(t)
	machines := []*machine{l.machine(env, 0), l.machine(env, 1), l.machine(env, 2)}
	for _, m := range machines {
		m.register(t)
	}
	for range 4 {
		for _, m := range machines {
			m.answerAll(t)
		}
		l.upToDate(t, store.Reading{ClusterID: c.ID})
	}
	require.Equal(t, model.ClusterReady, l.readCluster(t, c.ID).Status)
	return c, machines
}

// Nothing evaluates in the background here.
func TestReaderSeesWhatFollowsFromAChange(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, machines := l.discovered(t)
	m := machines[0]
	readings := map[string]store.Reading{
		"the cluster":      {ClusterID: c.ID},
		"the host":         {InfraEnvID: m.infraEnv, HostID: m.id},
		"the InfraEnv":     {InfraEnvID: m.infraEnv},
		"all the clusters": {},
	}
	for name, reading := range readings {
		for hostname, want := range map[string]model.HostStatus{"localhost": model.HostInsufficient, "worker-7": model.HostKnown} {
			_, err := l.store.UpdateHost(t.Context(), m.infraEnv, m.id, renamed(hostname))
			require.NoError(t, err)
			l.upToDate(t, reading)
			require.Equal(t, want, m.read(t).Status, "%s, %s", name, hostname)
			behind, err := l.store.Behind(t.Context(), store.Reading{}, 50, 10)
			require.NoError(t, err)
			require.Empty(t, behind)
		}
	}
	l.upToDate(t, store.Reading{ClusterID: uuid.New()})
	l.upToDate(t, store.Reading{InfraEnvID: uuid.New(), HostID: uuid.New()})
}

func TestReaderSeesUnboundHostsEvaluated(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.machine(l.infraEnv(t, nil), 0)
	m.register(t)
	m.answerAll(t)
	l.upToDate(t, store.Reading{InfraEnvID: m.infraEnv})
	require.Equal(t, model.HostKnownUnbound, m.read(t).Status)
}

// Each writer reads the effect of its own change, even while others change the same cluster.
func TestReadersOfOneClusterSeeTheirOwnChanges(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, machines := l.discovered(t)
	var wg sync.WaitGroup
	for i, m := range machines {
		wg.Go(func() {
			own := string(rune('a'+i)) + "-node"
			for range 15 {
				for _, step := range []struct {
					hostname string
					want     model.HostStatus
				}{{"localhost", model.HostInsufficient}, {own, model.HostKnown}} {
					_, err := l.store.UpdateHost(t.Context(), m.infraEnv, m.id, renamed(step.hostname))
					require.NoError(t, err)
					l.upToDate(t, store.Reading{ClusterID: c.ID})
					require.Equal(t, step.want, m.read(t).Status)
				}
			}
		})
	}
	wg.Wait()
}

// A change that comes while a cluster is evaluated is behind that evaluation.
func TestChangeDuringAnEvaluationIsEvaluatedForItsReader(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, machines := l.discovered(t)
	m := machines[0]
	first := true
	require.NoError(t, l.store.EvaluateCluster(t.Context(), c.ID, func(*model.Cluster, []*model.Host, *store.Tx) (store.Decision, error) {
		if first {
			first = false
			_, err := l.store.UpdateHost(t.Context(), m.infraEnv, m.id, renamed("localhost"))
			require.NoError(t, err)
		}
		return store.Decision{}, nil
	}))
	l.upToDate(t, store.Reading{ClusterID: c.ID})
	require.Equal(t, model.HostInsufficient, m.read(t).Status)
}

// An evaluation for a reader is not repeated in the background, and unread changes are still evaluated.
func TestBackgroundLeavesWhatAReaderHadEvaluated(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, machines := l.discovered(t)
	mark, found, err := l.store.ClaimRefresh(t.Context(), time.Minute)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, c.ID, mark.SubjectID)
	require.True(t, mark.Evaluated())
	_, err = l.store.UpdateHost(t.Context(), machines[0].infraEnv, machines[0].id, renamed("localhost"))
	require.NoError(t, err)
	require.NoError(t, l.store.FinishRefresh(t.Context(), mark, l.now()))
	mark, found, err = l.store.ClaimRefresh(t.Context(), time.Minute)
	require.NoError(t, err)
	require.True(t, found)
	require.False(t, mark.Evaluated())
}

func TestLargeClustersAreLeftToTheBackground(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	for i := range 3 {
		l.machine(env, i).register(t)
	}
	for hosts, want := range map[int]int{2: 0, 3: 1} {
		behind, err := l.store.Behind(t.Context(), store.Reading{ClusterID: c.ID}, hosts, 10)
		require.NoError(t, err)
		require.Len(t, behind, want)
	}
}
