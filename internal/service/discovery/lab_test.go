package discovery_test

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/programsig"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/reports"
	"slipway/internal/testing/await"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
)

// lab is a service on a database of its own with a clock that tests can move.
type lab struct {
	url        string
	store      *store.Store
	service    *discovery.Service
	evaluation *evaluation.Evaluator
	signals    *store.Signals
	// restart replaces the service, as a new process does.
	restart func()

	mu      sync.Mutex
	moved   time.Duration
	stopped time.Time // when the clock was stopped; zero while it runs
}

func (l *lab) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped.IsZero() {
		return l.stopped.Add(l.moved)
	}
	return time.Now().Add(l.moved)
}

// stopClock leaves the clock to pass alone.
func (l *lab) stopClock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = time.Now()
}

// pass moves the clock on.
func (l *lab) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved += d
}

// progress records what is reported about the installation of hosts.
func (l *lab) progress() reports.Hosts {
	return reports.Hosts{Store: l.store, Timeouts: timeouts()}
}

type labOption func(*labOptions)

// labOptions are the options of an evaluator, and of the service of agents beside it.
type labOptions struct {
	evaluation.Options
	maxHosts int
	newHosts int
	programs func() (map[string]wire.AgentProgram, error)
	signer   programsig.Signer
}

func newLab(t testing.TB, options ...labOption) *lab {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	l := &lab{url: url}
	l.store = l.later(t, 0)
	l.signals = store.NewSignals(l.store, discard())
	o := labOptions{Options: evaluation.Options{
		Store: l.store, Signals: l.signals, Log: discard(), Now: l.now, Timeouts: timeouts(), ReaderPatience: time.Hour,
	}}
	for _, option := range options {
		option(&o)
	}
	l.evaluation = evaluation.New(o.Options)
	l.restart = func() {
		l.service = discovery.New(discovery.Options{
			Store: o.Store, Evaluation: l.evaluation, Signals: o.Signals, Log: o.Log, Now: o.Now, Timeouts: o.Timeouts,
			AgentImage: o.AgentImage, AgentPrograms: o.programs, Signer: o.signer, MaxHosts: o.maxHosts, NewHosts: o.newHosts,
		})
	}
	l.restart()
	return l
}

// later opens the database with a clock that is ahead of the lab's.
func (l *lab) later(t testing.TB, ahead time.Duration) *store.Store {
	t.Helper()
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{
		URL: l.url, Sealer: sealer, Now: func() time.Time { return l.now().Add(ahead) }, CompareSnapshots: true,
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func timeouts() lifecycle.Timeouts { return lifecycle.DefaultTimeouts() }

// run lets the service evaluate and sweep until the test ends.
func (l *lab) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { l.signals.Run(ctx) })
	wg.Go(func() { l.evaluation.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// listen lets signals arrive, without evaluating anything.
func (l *lab) listen(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, stop := l.signals.Host(uuid.Nil)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { l.signals.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	<-ready // everybody is woken once the connection is up
}

type clusterOption func(*model.Cluster)

// cluster defines a highly available cluster and the environment its hosts boot from.
func (l *lab) cluster(t testing.TB, options ...clusterOption) (*model.Cluster, *model.InfraEnv) {
	t.Helper()
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, Name: "prod", Status: model.ClusterInsufficient, WorkflowStarted: true,
		PullSecret: "secret", ControlPlaneCount: 3, OpenShiftVersion: "4.22.0", BaseDNSDomain: "example.com", CPUArchitecture: "x86_64",
		Platform: model.Platform{Type: "baremetal"}, NetworkType: "OVNKubernetes",
		APIVIPs:         []model.VIP{{IP: netip.MustParseAddr("192.0.2.2")}},
		IngressVIPs:     []model.VIP{{IP: netip.MustParseAddr("192.0.2.3")}},
		ClusterNetworks: []model.ClusterNetwork{{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}},
		ServiceNetworks: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16")},
	}
	for _, option := range options {
		option(c)
	}
	require.NoError(t, l.store.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	return c, l.infraEnv(t, &c.ID)
}

func singleNode(c *model.Cluster) {
	c.ControlPlaneCount, c.UserManagedNetworking, c.Platform.Type = 1, true, "none"
	c.APIVIPs, c.IngressVIPs = nil, nil
}

func (l *lab) infraEnv(t testing.TB, clusterID *uuid.UUID) *model.InfraEnv {
	t.Helper()
	e := &model.InfraEnv{ID: uuid.New(), ClusterID: clusterID, Name: "env", PullSecret: "secret", OpenShiftVersion: "4.22.0"}
	require.NoError(t, l.store.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
	return e
}

func (l *lab) readCluster(t testing.TB, id uuid.UUID) *model.Cluster {
	t.Helper()
	c, err := l.store.Cluster(t.Context(), id)
	require.NoError(t, err)
	return c
}

func (l *lab) setCluster(t testing.TB, id uuid.UUID, change func(*model.Cluster)) {
	t.Helper()
	_, err := l.store.UpdateCluster(t.Context(), id, func(c *model.Cluster, _ *store.Tx) error {
		change(c)
		return nil
	})
	require.NoError(t, err)
}

func (m *machine) set(t testing.TB, change func(*model.Host)) {
	t.Helper()
	_, err := m.store.UpdateHost(t.Context(), m.infraEnv, m.id, func(h *model.Host, _ *store.Tx) error {
		change(h)
		return nil
	})
	require.NoError(t, err)
}

// eventually waits until a condition of the database holds.
func eventually(t *testing.T, condition func() bool, message string, describe func() any) {
	t.Helper()
	deadline := time.NewTimer(await.Limit(t))
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			require.FailNow(t, message, "%+v", describe())
		case <-tick.C:
		}
	}
}

func (l *lab) reaches(t *testing.T, id uuid.UUID, status model.ClusterStatus) {
	t.Helper()
	eventually(t, func() bool { return l.readCluster(t, id).Status == status }, "cluster did not become "+string(status), func() any {
		c := l.readCluster(t, id)
		hosts, err := l.store.ClusterHosts(t.Context(), id)
		require.NoError(t, err)
		out := []any{c.Status, c.StatusInfo}
		for _, h := range hosts {
			out = append(out, h.Hostname(), h.Status, h.StatusInfo)
		}
		return out
	})
}

func (m *machine) reaches(t *testing.T, status model.HostStatus) {
	t.Helper()
	eventually(t, func() bool { return m.read(t).Status == status }, "host did not become "+string(status), func() any {
		h := m.read(t)
		return []any{h.Status, h.StatusInfo}
	})
}

func (l *lab) refresh(t testing.TB, id uuid.UUID) {
	t.Helper()
	require.NoError(t, l.evaluation.RefreshCluster(t.Context(), id))
}

// events counts the events of a cluster by name.
func (l *lab) events(t testing.TB, id uuid.UUID) map[string]int {
	t.Helper()
	page, err := l.store.Events(t.Context(), store.EventFilter{ClusterID: id})
	require.NoError(t, err)
	out := map[string]int{}
	for _, e := range page.Events {
		out[e.Name]++
	}
	return out
}
