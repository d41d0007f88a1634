package store_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// narrow are the paths that leave the report out, which is larger than all other fields together.
var narrow = notCarried{"Connectivity": "it is read on demand"}

// polled lists the fields that an idle poll does not read: it costs the same whatever the size of a host.
func polled() notCarried {
	out := notCarried{}
	for _, l := range leaves(reflect.TypeFor[model.Host]()) {
		switch l.name {
		case "Kind", "Status", "AgentSteps", "Facts":
		default:
			out[l.name] = "an idle poll does not depend on it, or has it in its view"
		}
	}
	return out
}

// hostReads are the paths that read a host.
var hostReads = map[string]struct {
	lost notCarried
	read func(s hostSubject, read func(*model.Host)) error
}{
	"Host": {read: func(s hostSubject, read func(*model.Host)) error {
		h, err := s.store.Host(s.Context(), s.host.InfraEnvID, s.host.ID)
		read(h)
		return err
	}},
	"Hosts": {lost: narrow, read: func(s hostSubject, read func(*model.Host)) error {
		return s.store.Hosts(s.Context(), store.HostFilter{InfraEnvID: s.host.InfraEnvID}, found(read))
	}},
	"Hosts, with their reports": {read: func(s hostSubject, read func(*model.Host)) error {
		return s.store.Hosts(s.Context(), store.HostFilter{InfraEnvID: s.host.InfraEnvID, Connectivity: true}, found(read))
	}},
	"ClusterHosts": {lost: narrow, read: func(s hostSubject, read func(*model.Host)) error {
		hosts, err := s.store.ClusterHosts(s.Context(), *s.host.ClusterID)
		for _, h := range hosts {
			if h.ID == s.host.ID {
				read(h)
			}
		}
		return err
	}},
	"RegisterHost, again": {read: func(s hostSubject, read func(*model.Host)) error {
		return registerHost(s, s.host.ID, func(*model.Host) {}, read)
	}},
	"UpdateHost": {read: hostWrites["UpdateHost"].write},
	"UpdateHostFacts": {lost: narrow, read: func(s hostSubject, read func(*model.Host)) error {
		return hostWrites["UpdateHostFacts"].write(s, read)
	}},
	"UpdateHostOf": {read: func(s hostSubject, read func(*model.Host)) error {
		return hostWrites["UpdateHostOf"].write(s, read)
	}},
	"UpdateInstallation": {read: func(s hostSubject, read func(*model.Host)) error {
		return s.store.UpdateInstallation(s.Context(), *s.host.ClusterID, func(_ *model.Cluster, hosts []*model.Host, _ *store.Tx) error {
			return each(hosts, s.host, read)
		})
	}},
	"EvaluateCluster": {read: func(s hostSubject, read func(*model.Host)) error {
		return s.store.EvaluateCluster(s.Context(), *s.host.ClusterID,
			func(_ *model.Cluster, hosts []*model.Host, _ *store.Tx) (store.Decision, error) {
				return store.Decision{}, each(hosts, s.host, read)
			})
	}},
	"DeleteHost": {read: func(s hostSubject, read func(*model.Host)) error {
		return s.store.DeleteHost(s.Context(), s.host.InfraEnvID, s.host.ID, func(h *model.Host, _ *store.Tx) error {
			read(h)
			return errKept
		})
	}},
	"Poll": {lost: polled(), read: func(s hostSubject, read func(*model.Host)) error {
		v, err := s.store.Poll(s.Context(), s.host.InfraEnvID, s.host.ID)
		read(v.Host())
		return err
	}},
}

func found(read func(*model.Host)) func(*model.Host) error {
	return func(h *model.Host) error {
		read(h)
		return nil
	}
}

func each(hosts []*model.Host, of *model.Host, read func(*model.Host)) error {
	for _, h := range hosts {
		if h.ID == of.ID {
			read(h)
		}
	}
	return nil
}

// reads passes a host to check by each path.
func (s hostSubject) reads(check func(path string, lost notCarried, h *model.Host)) {
	s.Helper()
	for name, path := range hostReads {
		found := false
		err := path.read(s, func(h *model.Host) { found = true; check(name, path.lost, h) })
		if err != nil {
			require.ErrorIs(s, err, errKept, name)
		}
		require.True(s, found, name)
	}
}

func TestEachFieldOfAHostIsRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	for _, l := range leaves(reflect.TypeFor[model.Host]()) {
		if keptOfHost[l.name] != "" {
			continue
		}
		in := hostSubject{T: t, store: s, cluster: newCluster(t, s)}
		in.host = newHost(t, s, &in.cluster.ID)
		var want any
		h, err := s.UpdateHost(t.Context(), in.host.InfraEnvID, in.host.ID, func(h *model.Host, _ *store.Tx) error {
			want = l.change(h)
			return nil
		})
		require.NoError(t, err)
		in.host = h
		in.reads(func(path string, lost notCarried, h *model.Host) {
			if lost[l.name] == "" {
				require.Equal(t, want, l.of(h), "%s by %s", l.name, path)
			} else {
				require.NotEqual(t, want, l.of(h), "%s by %s", l.name, path)
			}
		})
	}
}

// What other statements write is read by each path, too.
func TestStampsOfAHostAreRead(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	in := hostSubject{T: t, store: s, cluster: newCluster(t, s)}
	in.host = newHost(t, s, &in.cluster.ID)
	require.NoError(t, s.Exec(t.Context(), `update hosts set created_at = '2031-02-03T04:05:01Z', updated_at = '2031-02-03T04:05:02Z',
		status_updated_at = '2031-02-03T04:05:03Z' where id = '`+in.host.ID.String()+`'`))
	require.NoError(t, s.CheckIns(t.Context(), []store.HostCheckIn{
		{InfraEnvID: in.host.InfraEnvID, HostID: in.host.ID, At: otherTime, Timestamp: 17},
	}))
	in.reads(func(path string, _ notCarried, h *model.Host) {
		if path == "Poll" {
			return // its view has check-ins itself
		}
		require.Equal(t, in.host.ID, h.ID, path)
		require.Equal(t, in.host.InfraEnvID, h.InfraEnvID, path)
		require.Equal(t, otherTime.Add(-5e9), h.CreatedAt, path)
		require.Equal(t, otherTime.Add(-4e9), h.UpdatedAt, path)
		require.Equal(t, otherTime.Add(-3e9), h.StatusUpdatedAt, path)
		require.Equal(t, otherTime, h.CheckedInAt, path)
		require.Equal(t, int64(17), h.Timestamp, path)
		require.Zero(t, h.DeletedAt, path)
	})
	v, err := s.Poll(t.Context(), in.host.InfraEnvID, in.host.ID)
	require.NoError(t, err)
	require.Equal(t, otherTime, v.CheckedInAt)
	require.Equal(t, int64(17), v.Timestamp)
}

// Statements of their own write some fields of a host; nothing else changes with them.
func TestSpecialWritesOfAHostChangeOneField(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	checkIn := func(s hostSubject, at int64) store.HostCheckIn {
		return store.HostCheckIn{InfraEnvID: s.host.InfraEnvID, HostID: s.host.ID, At: otherTime, Timestamp: at}
	}
	tests := map[string]struct {
		quiet bool
		write func(s hostSubject) error
		check func(before, after *model.Host)
	}{
		"CheckIns": {quiet: true, write: func(s hostSubject) error {
			return s.store.CheckIns(s.Context(), []store.HostCheckIn{checkIn(s, 17)})
		}, check: func(before, _ *model.Host) { before.CheckedInAt, before.Timestamp = otherTime, 17 }},
		"CheckIn": {quiet: true, write: func(s hostSubject) error {
			return s.store.CheckIn(s.Context(), checkIn(s, 18), func(*store.Tx) {})
		}, check: func(before, _ *model.Host) { before.CheckedInAt, before.Timestamp = otherTime, 18 }},
		"Tx.CheckIn": {quiet: true, write: func(s hostSubject) error {
			return s.store.Write(s.Context(), func(t *store.Tx) error {
				h := *s.host
				h.Timestamp = 19
				t.CheckIn(&h)
				return nil
			})
		}, check: func(before, after *model.Host) {
			require.True(t, after.CheckedInAt.After(before.CheckedInAt))
			before.CheckedInAt, before.Timestamp = after.CheckedInAt, 19
		}},
		"HostWorkflowStarted": {write: func(s hostSubject) error {
			return s.store.HostWorkflowStarted(s.Context(), s.host.InfraEnvID, s.host.ID, 0)
		}, check: func(before, _ *model.Host) { before.PendingWorkflow = model.WorkflowNone }},
		"HostWorkflowStarted, of another attempt": {quiet: true, write: func(s hostSubject) error {
			return s.store.HostWorkflowStarted(s.Context(), s.host.InfraEnvID, s.host.ID, 1)
		}, check: func(_, _ *model.Host) {}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := hostSubject{T: t, store: s, cluster: newCluster(t, s)}
			in.host = newHost(t, s, &in.cluster.ID)
			before, err := s.UpdateHost(t.Context(), in.host.InfraEnvID, in.host.ID, func(h *model.Host, _ *store.Tx) error {
				for _, l := range leaves(reflect.TypeFor[model.Host]()) { // so that a field that is emptied is noticed
					if keptOfHost[l.name] == "" && l.name != "WorkflowAttempt" {
						l.change(h)
					}
				}
				return nil
			})
			require.NoError(t, err)
			require.NoError(t, test.write(in))
			after, err := s.Host(t.Context(), in.host.InfraEnvID, in.host.ID)
			require.NoError(t, err)
			require.Equal(t, test.quiet, after.UpdatedAt.Equal(before.UpdatedAt))
			test.check(before, after)
			before.UpdatedAt = after.UpdatedAt
			require.Equal(t, before, after)
		})
	}
}
