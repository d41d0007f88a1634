package store_test

import (
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// keptOfCluster are the fields of a cluster that no path writes from the struct.
var keptOfCluster = notCarried{
	"ID":              "it identifies the row",
	"CreatedAt":       "the store sets it with the new row",
	"UpdatedAt":       "the store sets it with each change",
	"StatusUpdatedAt": "the store sets it with each status",
	"DeletedAt":       "deletions set it",
	"HostsGeneration": "it is counted in pulses, by HostsChanged",
}

type clusterSubject struct {
	*testing.T
	store *store.Store
	id    uuid.UUID
}

// clusterWrites are the paths that write a cluster that exists.
var clusterWrites = map[string]func(s clusterSubject, change func(*model.Cluster)) error{
	"UpdateCluster": func(s clusterSubject, change func(*model.Cluster)) error {
		_, err := s.store.UpdateCluster(s.Context(), s.id, func(c *model.Cluster, _ *store.Tx) error {
			change(c)
			return nil
		})
		return err
	},
	"UpdateInstallation": func(s clusterSubject, change func(*model.Cluster)) error {
		return s.store.UpdateInstallation(s.Context(), s.id, func(c *model.Cluster, _ []*model.Host, _ *store.Tx) error {
			change(c)
			return nil
		})
	},
	"EvaluateCluster": func(s clusterSubject, change func(*model.Cluster)) error {
		return s.store.EvaluateCluster(s.Context(), s.id, decideCluster(change))
	},
	"EvaluateCluster, with locks": func(s clusterSubject, change func(*model.Cluster)) error {
		runs := 0
		return s.store.EvaluateCluster(s.Context(), s.id, func(c *model.Cluster, of []*model.Host, t *store.Tx) (store.Decision, error) {
			if runs++; runs <= 3 {
				require.NoError(s, s.store.Exec(s.Context(), `update clusters set name = name where id = '`+s.id.String()+`'`))
			}
			return decideCluster(change)(c, of, t)
		})
	},
}

func decideCluster(change func(*model.Cluster)) store.Decide {
	return func(c *model.Cluster, _ []*model.Host, _ *store.Tx) (store.Decision, error) {
		decided := *c
		change(&decided)
		return store.Decision{Cluster: &decided}, nil
	}
}

func TestEachFieldOfAClusterIsWritten(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	keptOfCluster.check(t, reflect.TypeFor[model.Cluster]())
	for name, write := range clusterWrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, l := range leaves(reflect.TypeFor[model.Cluster]()) {
				t.Run(l.name, func(t *testing.T) {
					in := clusterSubject{t, s, newCluster(t, s).ID}
					before, err := s.Cluster(t.Context(), in.id)
					require.NoError(t, err)
					var want any
					require.NoError(t, write(in, func(c *model.Cluster) { want = l.change(c) }))
					after, err := s.Cluster(t.Context(), in.id)
					require.NoError(t, err)
					onlyChanged(t, before, after, l, want, keptOfCluster, false)
				})
			}
		})
	}
}

func TestEachFieldOfANewClusterIsWritten(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for _, l := range leaves(reflect.TypeFor[model.Cluster]()) {
		if l.name == "ID" {
			continue // a cluster has that id already
		}
		t.Run(l.name, func(t *testing.T) {
			c := &model.Cluster{ID: uuid.New(), Kind: model.KindCluster, Name: "prod", Status: model.ClusterInsufficient}
			want := l.change(c)
			require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
			got, err := s.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			if keptOfCluster[l.name] == "" {
				require.Equal(t, want, l.of(got))
			} else {
				require.NotEqual(t, want, l.of(got))
			}
		})
	}
}

// clusterReads are the paths that read a cluster.
var clusterReads = map[string]func(s clusterSubject, read func(*model.Cluster)) error{
	"Cluster": func(s clusterSubject, read func(*model.Cluster)) error {
		c, err := s.store.Cluster(s.Context(), s.id)
		read(c)
		return err
	},
	"KeptCluster": func(s clusterSubject, read func(*model.Cluster)) error {
		c, err := s.store.KeptCluster(s.Context(), s.id)
		read(c)
		return err
	},
	"Clusters": func(s clusterSubject, read func(*model.Cluster)) error {
		return s.store.Clusters(s.Context(), store.ClusterFilter{}, func(c *model.Cluster) error {
			if c.ID == s.id {
				read(c)
			}
			return nil
		})
	},
	"UpdateCluster": func(s clusterSubject, read func(*model.Cluster)) error {
		_, err := s.store.UpdateCluster(s.Context(), s.id, func(c *model.Cluster, _ *store.Tx) error {
			read(c)
			return nil
		})
		return err
	},
	"UpdateInstallation": func(s clusterSubject, read func(*model.Cluster)) error {
		return s.store.UpdateInstallation(s.Context(), s.id, func(c *model.Cluster, _ []*model.Host, _ *store.Tx) error {
			read(c)
			return nil
		})
	},
	"EvaluateCluster": func(s clusterSubject, read func(*model.Cluster)) error {
		return s.store.EvaluateCluster(s.Context(), s.id, decideCluster(read))
	},
	"DeleteCluster": func(s clusterSubject, read func(*model.Cluster)) error {
		return s.store.DeleteCluster(s.Context(), s.id, func(c *model.Cluster, _ []*model.Host, _ *store.Tx) error {
			read(c)
			return errKept
		})
	},
}

func TestEachFieldOfAClusterIsRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for _, l := range leaves(reflect.TypeFor[model.Cluster]()) {
		if keptOfCluster[l.name] != "" {
			continue
		}
		in := clusterSubject{t, s, newCluster(t, s).ID}
		var want any
		_, err := s.UpdateCluster(t.Context(), in.id, func(c *model.Cluster, _ *store.Tx) error {
			want = l.change(c)
			return nil
		})
		require.NoError(t, err)
		for name, read := range clusterReads {
			found := false
			if err := read(in, func(c *model.Cluster) { found = true; require.Equal(t, want, l.of(c), "%s by %s", l.name, name) }); err != nil {
				require.ErrorIs(t, err, errKept)
			}
			require.True(t, found, name)
		}
	}
}

// What other statements write is read by each path, too.
func TestStampsOfAClusterAreRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	in := clusterSubject{t, s, newCluster(t, s).ID}
	require.NoError(t, s.Write(t.Context(), func(t *store.Tx) error { t.HostsChanged(in.id); return nil }))
	require.NoError(t, s.Exec(t.Context(), `update clusters set created_at = '2031-02-03T04:05:01Z', updated_at = '2031-02-03T04:05:02Z',
		status_updated_at = '2031-02-03T04:05:03Z' where id = '`+in.id.String()+`'`))
	for name, read := range clusterReads {
		err := read(in, func(c *model.Cluster) {
			require.Equal(t, in.id, c.ID, name)
			require.Equal(t, otherTime.Add(-5e9), c.CreatedAt, name)
			require.Equal(t, otherTime.Add(-4e9), c.UpdatedAt, name)
			require.Equal(t, otherTime.Add(-3e9), c.StatusUpdatedAt, name)
			require.Equal(t, int64(1), c.HostsGeneration, name)
			require.Zero(t, c.DeletedAt, name)
		})
		if err != nil {
			require.ErrorIs(t, err, errKept)
		}
	}
	require.NoError(t, s.DeleteCluster(t.Context(), in.id, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	kept, err := s.KeptCluster(t.Context(), in.id)
	require.NoError(t, err)
	require.False(t, kept.DeletedAt.IsZero())
}

func TestStartedWorkflowChangesOneFieldOfItsCluster(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	c := newCluster(t, s)
	before, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.InstallAttempt, c.WorkflowStarted = 2, false
		return nil
	})
	require.NoError(t, err)
	for attempt, started := range map[int]bool{1: false, 2: true} {
		require.NoError(t, s.WorkflowStarted(t.Context(), c.ID, attempt))
		after, err := s.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		before.WorkflowStarted = before.WorkflowStarted || started
		require.Equal(t, before, after)
	}
}
