package store_test

import (
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// keptOfHost are the fields of a host that no path writes from the struct.
var keptOfHost = notCarried{
	"ID":              "it identifies the row",
	"InfraEnvID":      "it identifies the row",
	"CreatedAt":       "the store sets it at the registration",
	"UpdatedAt":       "the store sets it with each change",
	"StatusUpdatedAt": "the store sets it with each status",
	"DeletedAt":       "deletions set it",
	"CheckedInAt":     "check-ins have a table of their own",
	"Timestamp":       "check-ins have a table of their own",
}

type hostSubject struct {
	*testing.T
	store   *store.Store
	cluster *model.Cluster
	host    *model.Host
}

// hostWrites are the paths that write a host. Paths that create one have no host before.
var hostWrites = map[string]struct {
	creates, unbound bool
	lost             notCarried
	write            func(s hostSubject, change func(*model.Host)) error
}{
	"RegisterHost, a new one": {creates: true, write: func(s hostSubject, change func(*model.Host)) error {
		return registerHost(s, uuid.New(), change, func(*model.Host) {})
	}},
	"RegisterHost, a new one that its closure changes": {creates: true, write: func(s hostSubject, change func(*model.Host)) error {
		return registerHost(s, uuid.New(), func(*model.Host) {}, change)
	}},
	"RegisterHost, over a deleted one": {
		creates: true, lost: notCarried{"WorkflowAttempt": "attempts of the deleted host are counted on"},
		write: func(s hostSubject, change func(*model.Host)) error {
			_, err := s.store.UpdateHost(s.Context(), s.host.InfraEnvID, s.host.ID, func(h *model.Host, _ *store.Tx) error {
				h.WorkflowAttempt = 7
				return nil
			})
			require.NoError(s, err)
			err = s.store.DeleteHost(s.Context(), s.host.InfraEnvID, s.host.ID, func(*model.Host, *store.Tx) error { return nil })
			require.NoError(s, err)
			return registerHost(s, s.host.ID, change, func(*model.Host) {})
		},
	},
	"RegisterHost, again": {write: func(s hostSubject, change func(*model.Host)) error {
		return registerHost(s, s.host.ID, func(*model.Host) {}, change)
	}},
	"UpdateHost": {write: func(s hostSubject, change func(*model.Host)) error {
		_, err := s.store.UpdateHost(s.Context(), s.host.InfraEnvID, s.host.ID, func(h *model.Host, _ *store.Tx) error {
			change(h)
			return nil
		})
		return err
	}},
	"UpdateHostFacts": {
		lost: notCarried{"Connectivity": "it is not read, and stays"},
		write: func(s hostSubject, change func(*model.Host)) error {
			_, err := s.store.UpdateHostFacts(s.Context(), s.host.InfraEnvID, s.host.ID, func(h *model.Host, _ *store.Tx) error {
				change(h)
				return nil
			})
			return err
		},
	},
	"UpdateHostOf": {write: func(s hostSubject, change func(*model.Host)) error {
		return s.store.UpdateHostOf(s.Context(), &s.cluster.ID, s.host.InfraEnvID, s.host.ID,
			func(_ *model.Cluster, h *model.Host, _ *store.Tx) error {
				change(h)
				return nil
			})
	}},
	"UpdateInstallation": {write: func(s hostSubject, change func(*model.Host)) error {
		return s.store.UpdateInstallation(s.Context(), s.cluster.ID, func(_ *model.Cluster, hosts []*model.Host, _ *store.Tx) error {
			change(hosts[0])
			return nil
		})
	}},
	"EvaluateCluster": {write: func(s hostSubject, change func(*model.Host)) error {
		return s.store.EvaluateCluster(s.Context(), s.cluster.ID, decideHost(change))
	}},
	"EvaluateCluster, with locks": {write: func(s hostSubject, change func(*model.Host)) error {
		runs := 0
		return s.store.EvaluateCluster(s.Context(), s.cluster.ID, func(c *model.Cluster, of []*model.Host, t *store.Tx) (store.Decision, error) {
			if runs++; runs <= 3 {
				require.NoError(s, s.store.Exec(s.Context(), `update hosts set stage = stage where id = '`+s.host.ID.String()+`'`))
			}
			return decideHost(change)(c, of, t)
		})
	}},
	"EvaluateUnboundHosts": {unbound: true, write: func(s hostSubject, change func(*model.Host)) error {
		return s.store.EvaluateUnboundHosts(s.Context(), s.host.InfraEnvID, decideHost(change))
	}},
}

func registerHost(s hostSubject, id uuid.UUID, made, registered func(*model.Host)) error {
	_, err := s.store.RegisterHost(s.Context(), s.host.InfraEnvID, id, func() *model.Host {
		h := &model.Host{
			ClusterID: &s.cluster.ID, Kind: model.KindHost, Status: model.HostDiscovering, Role: model.RoleAutoAssign,
			AgentSteps: model.FineSteps,
		}
		made(h)
		return h
	}, func(h *model.Host, _ bool, _ *store.Tx) error {
		registered(h)
		return nil
	})
	s.host.ID = id
	return err
}

func decideHost(change func(*model.Host)) store.Decide {
	return func(_ *model.Cluster, hosts []*model.Host, _ *store.Tx) (store.Decision, error) {
		h := *hosts[0]
		change(&h)
		return store.Decision{Hosts: []store.HostChange{{Host: &h}}}, nil
	}
}

func TestEachFieldOfAHostIsWritten(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for name, path := range hostWrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := keptOfHost.and(path.lost)
			lost.check(t, reflect.TypeFor[model.Host]())
			for _, l := range leaves(reflect.TypeFor[model.Host]()) {
				t.Run(l.name, func(t *testing.T) {
					in := hostSubject{T: t, store: s, cluster: newCluster(t, s)}
					in.host = newHost(t, s, &in.cluster.ID)
					if path.unbound {
						in.host = newHost(t, s, nil)
					}
					before, err := s.Host(t.Context(), in.host.InfraEnvID, in.host.ID)
					require.NoError(t, err)
					var want any
					require.NoError(t, path.write(in, func(h *model.Host) { want = l.change(h) }))
					after, err := s.Host(t.Context(), in.host.InfraEnvID, in.host.ID)
					require.NoError(t, err)
					switch {
					case !path.creates:
						onlyChanged(t, before, after, l, want, lost, l.name == "Facts")
					case lost[l.name] == "":
						require.Equal(t, want, l.of(after))
					default:
						require.NotEqual(t, want, l.of(after))
					}
				})
			}
		})
	}
}

// A deletion writes the hosts that it takes out of the cluster.
func TestEachFieldOfABorrowedHostIsWrittenWhenItsClusterIsDeleted(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for _, l := range leaves(reflect.TypeFor[model.Host]()) {
		c, h := newCluster(t, s), newHost(t, s, nil)
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.ClusterID = &c.ID
			return nil
		})
		require.NoError(t, err)
		var want any
		require.NoError(t, s.DeleteCluster(t.Context(), c.ID, func(_ *model.Cluster, borrowed []*model.Host, _ *store.Tx) error {
			borrowed[0].ClusterID = nil
			if keptOfHost[l.name] == "" {
				want = l.change(borrowed[0])
			}
			return nil
		}))
		after, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
		require.NoError(t, err)
		if keptOfHost[l.name] == "" {
			require.Equal(t, want, l.of(after), l.name)
		}
	}
}
