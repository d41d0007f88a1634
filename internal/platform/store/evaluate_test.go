package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// becomeKnown decides that every discovering host moves on.
func becomeKnown(c *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
	var d store.Decision
	for _, h := range hosts {
		if h.Status != model.HostDiscovering {
			continue
		}
		changed := *h
		changed.Status, changed.StatusInfo = model.HostKnown, "fine"
		part := t.Part()
		d.Hosts = append(d.Hosts, store.HostChange{Host: &changed, Tx: part})
		part.Event(model.Event{Name: "x", Category: "user", Severity: model.SeverityInfo, HostID: &h.ID, Message: "m", At: t.Now()})
	}
	if c != nil && len(d.Hosts) > 0 {
		changed := *c
		changed.Status = model.ClusterReady
		d.Cluster = &changed
	}
	return d, nil
}

func TestEvaluationWritesWhatItDecides(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	require.NoError(t, s.EvaluateCluster(t.Context(), c.ID, becomeKnown))
	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.HostKnown, got.Status)
	require.Equal(t, "fine", got.StatusInfo)
	require.True(t, got.StatusUpdatedAt.After(h.StatusUpdatedAt))
	cluster, err := s.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, model.ClusterReady, cluster.Status)

	require.NoError(t, s.EvaluateCluster(t.Context(), c.ID, becomeKnown), "nothing is left to decide")
	again, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, got.UpdatedAt, again.UpdatedAt)
	require.ErrorIs(t, s.EvaluateCluster(t.Context(), uuid.New(), becomeKnown), model.ErrNotFound)
}

func TestEvaluationStartsOverWhenRowsChangeMeanwhile(t *testing.T) {
	t.Parallel()
	tests := map[string]func(s *store.Store, c *model.Cluster, h *model.Host) error{
		"when a host is written": func(s *store.Store, _ *model.Cluster, h *model.Host) error {
			_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
				h.RequestedHostname = "new-name"
				return nil
			})
			return err
		},
		"when the cluster is written": func(s *store.Store, c *model.Cluster, _ *model.Host) error {
			_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
				c.BaseDNSDomain = "example.net"
				return nil
			})
			return err
		},
	}
	for name, interfere := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			c := newCluster(t, s)
			h := newHost(t, s, &c.ID)
			runs := 0
			err := s.EvaluateCluster(t.Context(), c.ID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
				if runs++; runs == 1 {
					if err := interfere(s, c, h); err != nil {
						return store.Decision{}, err
					}
				}
				return becomeKnown(c, hosts, tx)
			})
			require.NoError(t, err)
			require.Equal(t, 2, runs)
			page, err := s.Events(t.Context(), store.EventFilter{HostIDs: []uuid.UUID{h.ID}})
			require.NoError(t, err)
			require.Equal(t, 1, page.Total, "the first run left nothing")
			got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
			require.NoError(t, err)
			require.Equal(t, model.HostKnown, got.Status)
		})
	}
}

func TestHostsRegisterWhileTheirClusterIsEvaluated(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	runs := 0
	err := s.EvaluateCluster(t.Context(), c.ID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
		if runs++; runs <= 3 {
			_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
				h.RequestedHostname = fmt.Sprintf("name-%d", runs)
				return nil
			})
			require.NoError(t, err)
		} else {
			newHost(t, s, &c.ID) // the rows are locked now
		}
		return becomeKnown(c, hosts, tx)
	})
	require.NoError(t, err)
	require.Equal(t, 4, runs)
}

func TestManyHostsAreWrittenInPartsAndTheClusterLast(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	const hosts = 120
	all := make([]*model.Host, hosts)
	for i := range all {
		all[i] = newHost(t, s, &c.ID)
	}
	runs := 0
	var late *model.Host
	err := s.EvaluateCluster(t.Context(), c.ID, func(c *model.Cluster, read []*model.Host, tx *store.Tx) (store.Decision, error) {
		d, err := becomeKnown(c, read, tx)
		if runs++; runs == 1 {
			require.Len(t, d.Hosts, hosts)
			late = d.Hosts[0].Host
			_, err := s.UpdateHost(t.Context(), late.InfraEnvID, late.ID, func(h *model.Host, _ *store.Tx) error {
				h.RequestedHostname = "new-name"
				return nil
			})
			require.NoError(t, err)
		} else {
			require.Len(t, d.Hosts, 1, "all others are written")
			require.Equal(t, late.ID, d.Hosts[0].Host.ID)
			require.Equal(t, "new-name", d.Hosts[0].Host.RequestedHostname)
			require.Equal(t, model.ClusterInsufficient, c.Status)
		}
		return d, err
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	written, err := s.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, written, hosts)
	for _, h := range written {
		require.Equal(t, model.HostKnown, h.Status)
	}
	cluster, err := s.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, model.ClusterReady, cluster.Status)
	require.NoError(t, s.EvaluateCluster(t.Context(), c.ID, func(c *model.Cluster, _ []*model.Host, tx *store.Tx) (store.Decision, error) {
		tx.Event(model.Event{Name: "x", Category: "user", Severity: model.SeverityInfo, ClusterID: &c.ID, Message: "m", At: tx.Now()})
		return store.Decision{}, nil
	}), "what belongs to the cluster alone is written too")
	page, err := s.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)
}

func TestHostsThatStayedTheSameAreNotReadAgain(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	changed, same := newHost(t, s, &c.ID), newHost(t, s, &c.ID)
	for _, h := range []*model.Host{changed, same} {
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory, h.IgnitionEndpointToken = &wire.Inventory{Hostname: "before"}, "secret"
			h.Facts, h.Connectivity = model.Facts{"inventory": {StepID: "1"}}, model.PackConnectivity(wire.ConnectivityReport{})
			return nil
		})
		require.NoError(t, err)
	}
	later := s.Now().Add(time.Hour)
	var first map[uuid.UUID]*model.Host
	err := s.EvaluateCluster(t.Context(), c.ID, func(_ *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
		read := map[uuid.UUID]*model.Host{hosts[0].ID: hosts[0], hosts[1].ID: hosts[1]}
		if first != nil {
			require.Same(t, first[same.ID].Inventory, read[same.ID].Inventory)
			require.Equal(t, later, read[same.ID].CheckedInAt, "a check-in is no part of the row")
			require.Equal(t, int64(7), read[same.ID].Timestamp)
			want := *first[same.ID]
			want.CheckedInAt, want.Timestamp = later, 7
			require.Equal(t, &want, read[same.ID])
			require.Equal(t, "after", read[changed.ID].Inventory.Hostname)
			require.Equal(t, model.Secret("secret"), read[changed.ID].IgnitionEndpointToken)
			return store.Decision{}, nil
		}
		first = read
		_, err := s.UpdateHost(t.Context(), changed.InfraEnvID, changed.ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory = &wire.Inventory{Hostname: "after"}
			return nil
		})
		require.NoError(t, err)
		require.NoError(t, s.CheckIns(t.Context(), []store.HostCheckIn{{InfraEnvID: same.InfraEnvID, HostID: same.ID, At: later, Timestamp: 7}}))
		decided := *read[changed.ID]
		decided.Status = model.HostKnown
		return store.Decision{Hosts: []store.HostChange{{Host: &decided, Tx: tx.Part()}}}, nil
	})
	require.NoError(t, err)
	got, err := s.Host(t.Context(), changed.InfraEnvID, changed.ID)
	require.NoError(t, err)
	require.Equal(t, model.HostDiscovering, got.Status, "what was decided on an earlier version is not written")
}

func TestEvaluationOfUnboundHostsLeavesBoundOnesAlone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	h := newHost(t, s, nil)
	require.NoError(
		t,
		s.EvaluateUnboundHosts(
			t.Context(),
			h.InfraEnvID,
			func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
				require.Nil(t, c)
				require.Len(t, hosts, 1)
				return becomeKnown(c, hosts, tx)
			},
		),
	)
	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.HostKnown, got.Status)
}

func TestStepIsDeliveredOnceAndAgainAfterAWhile(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	arm(t, s, c, h, "image-write-1", "run-1")
	deliver := func(again time.Time) int {
		steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, again)
		require.NoError(t, err)
		return len(steps)
	}
	require.Equal(t, 1, deliver(time.Time{}))
	require.Equal(t, 0, deliver(time.Time{}))
	require.Equal(t, 0, deliver(s.Now().Add(-time.Minute)))
	require.Equal(t, 1, deliver(s.Now()))
	arm(t, s, c, h, "image-write-1", "run-1")
	require.Equal(t, 1, deliver(time.Time{}), "a step armed again is delivered again")
}

func TestJoiningTellsWhereHostsBelong(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	bound, late := newHost(t, s, &c.ID), newHost(t, s, nil)
	in := store.Joining{
		ClusterID: &c.ID, ClusterKind: model.KindCluster, ClusterStatus: model.ClusterInsufficient, ControlPlaneCount: 3,
	}

	j, err := s.Joining(t.Context(), bound.InfraEnvID, uuid.New())
	require.NoError(t, err)
	require.Equal(t, in, j, "a new host joins the cluster of its environment")
	j, err = s.Joining(t.Context(), late.InfraEnvID, late.ID)
	require.NoError(t, err)
	require.Nil(t, j.ClusterID)
	_, err = s.UpdateHost(t.Context(), late.InfraEnvID, late.ID, func(h *model.Host, _ *store.Tx) error {
		h.ClusterID = &c.ID
		return nil
	})
	require.NoError(t, err)
	j, err = s.Joining(t.Context(), late.InfraEnvID, late.ID)
	require.NoError(t, err)
	require.Equal(t, in, j, "a host that was bound stays where it is")
	_, err = s.Joining(t.Context(), uuid.New(), uuid.New())
	require.ErrorIs(t, err, model.ErrNotFound)
}

func TestJoiningKnowsHostsThatUsersDeleted(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	c := newCluster(t, s)
	deleted, idle, bound := newHost(t, s, nil), newHost(t, s, nil), newHost(t, s, &c.ID)
	kept := func(*model.Cluster, *model.Host, *store.Tx) error { return nil }
	require.NoError(t, s.DeleteHostOf(t.Context(), nil, deleted.InfraEnvID, deleted.ID, kept))
	require.NoError(t, s.DeleteHostOf(t.Context(), &c.ID, bound.InfraEnvID, bound.ID, kept))
	require.NoError(t, s.DeleteHost(t.Context(), idle.InfraEnvID, idle.ID, func(*model.Host, *store.Tx) error { return nil }))
	for h, want := range map[*model.Host]bool{deleted: true, bound: true, idle: false} {
		j, err := s.Joining(t.Context(), h.InfraEnvID, h.ID)
		require.NoError(t, err)
		require.Equal(t, want, j.HostDeleted)
	}
	j, err := s.Joining(t.Context(), deleted.InfraEnvID, uuid.New())
	require.NoError(t, err)
	require.False(t, j.HostDeleted, "a host that was never known")

	_, err = s.PurgeHosts(t.Context(), s.Now().Add(-time.Hour), 10)
	require.NoError(t, err)
	later, err := store.Open(t.Context(), store.Options{
		URL: url, Sealer: xorSealer{}, Now: func() time.Time { return time.Now().Add(100 * time.Hour) },
	})
	require.NoError(t, err)
	t.Cleanup(later.Close)
	require.NoError(t, later.KeepDeleted(t.Context(), deleted.InfraEnvID, deleted.ID))
	_, err = s.PurgeHosts(t.Context(), s.Now().Add(90*time.Hour), 10)
	require.NoError(t, err)
	j, err = s.Joining(t.Context(), deleted.InfraEnvID, deleted.ID)
	require.NoError(t, err)
	require.True(t, j.HostDeleted, "its agent asked lately")
	j, err = s.Joining(t.Context(), bound.InfraEnvID, bound.ID)
	require.NoError(t, err)
	require.False(t, j.HostDeleted, "no agent asked")

	made := func() *model.Host {
		return &model.Host{AgentSteps: model.FineSteps, Role: model.RoleAutoAssign, Status: model.HostDiscoveringUnbound, Kind: model.KindHost}
	}
	_, err = s.RegisterHost(t.Context(), deleted.InfraEnvID, deleted.ID, made, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(t, err)
	j, err = s.Joining(t.Context(), deleted.InfraEnvID, deleted.ID)
	require.NoError(t, err)
	require.False(t, j.HostDeleted, "it booted again")
}

func TestManyCheckInsAreWrittenTogether(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a, b := newHost(t, s, nil), newHost(t, s, nil)
	later := s.Now().Add(time.Minute)
	require.NoError(t, s.CheckIns(t.Context(), []store.HostCheckIn{
		{InfraEnvID: a.InfraEnvID, HostID: a.ID, At: later, Timestamp: 7},
		{InfraEnvID: b.InfraEnvID, HostID: b.ID, At: s.Now().Add(-time.Hour), Timestamp: 7},
		{InfraEnvID: uuid.New(), HostID: uuid.New(), At: later},
	}))
	got, err := s.Host(t.Context(), a.InfraEnvID, a.ID)
	require.NoError(t, err)
	require.Equal(t, later, got.CheckedInAt)
	require.Equal(t, int64(7), got.Timestamp)
	got, err = s.Host(t.Context(), b.InfraEnvID, b.ID)
	require.NoError(t, err)
	require.Zero(t, got.Timestamp, "a host is never heard of earlier than it was")
	require.NoError(t, s.CheckIns(t.Context(), []store.HostCheckIn{{InfraEnvID: a.InfraEnvID, HostID: a.ID, At: later.Add(time.Second)}}))
	got, err = s.Host(t.Context(), a.InfraEnvID, a.ID)
	require.NoError(t, err)
	require.Equal(t, int64(7), got.Timestamp, "a poll without a clock keeps the one told before")
}

// version returns the transaction that wrote a row last.
func version(t *testing.T, conn *pgx.Conn, table string, id uuid.UUID) (v string) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), `select xmin::text from slipway.`+table+` where id = $1`, id).Scan(&v))
	return v
}

func TestEvaluationWritesNoRowsThatItLeavesAsTheyAre(t *testing.T) {
	t.Parallel()
	tests := map[string]func(c *model.Cluster, h *model.Host){
		"when nothing is touched": func(*model.Cluster, *model.Host) {},
		"when lists are empty instead of missing": func(c *model.Cluster, h *model.Host) {
			c.HostNetworks, c.Validations, c.Connectivity.Majority = []model.HostNetwork{}, []model.ValidationResult{}, map[string][]uuid.UUID{}
			h.Validations, h.NodeLabels, h.Facts = []model.ValidationResult{}, map[string]string{}, model.Facts{}
		},
		"when values are copied": func(c *model.Cluster, h *model.Host) {
			c.MachineNetworks = slices.Clone(c.MachineNetworks)
			h.ClusterID = &c.ID
		},
		"when instants are in another zone": func(c *model.Cluster, h *model.Host) {
			c.CreatedAt, h.UpdatedAt = c.CreatedAt.In(time.FixedZone("x", 60)), h.UpdatedAt.In(time.FixedZone("x", 60))
			h.CheckedInAt = h.CheckedInAt.Add(time.Hour) // not of the row
		},
	}
	for name, touch := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, url := open(t)
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			c := newCluster(t, s)
			h := newHost(t, s, &c.ID)
			ofCluster, ofHost := version(t, conn, "clusters", c.ID), version(t, conn, "hosts", h.ID)
			err = s.EvaluateCluster(t.Context(), c.ID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
				cluster, host, part := *c, *hosts[0], tx.Part()
				touch(&cluster, &host)
				part.Event(model.Event{Name: "x", Category: "user", Severity: model.SeverityInfo, HostID: &h.ID, Message: "m", At: tx.Now()})
				return store.Decision{Cluster: &cluster, Hosts: []store.HostChange{{Host: &host, Tx: part}}}, nil
			})
			require.NoError(t, err)
			require.Equal(t, ofCluster, version(t, conn, "clusters", c.ID))
			require.Equal(t, ofHost, version(t, conn, "hosts", h.ID))
			page, err := s.Events(t.Context(), store.EventFilter{HostIDs: []uuid.UUID{h.ID}})
			require.NoError(t, err)
			require.Zero(t, page.Total, "what belongs to the change of a host is not written without it")
		})
	}
}
