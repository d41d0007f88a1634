package store_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// eachField passes a function every field of a noun, and whether the path under test carries it.
func eachField[N any](t *testing.T, lost notCarried, check func(t *testing.T, l leaf, carried bool)) {
	t.Helper()
	lost.check(t, reflect.TypeFor[N]())
	for _, l := range leaves(reflect.TypeFor[N]()) {
		t.Run(l.name, func(t *testing.T) { check(t, l, lost[l.name] == "") })
	}
}

func isCarried(t *testing.T, carried bool, want, got any) {
	t.Helper()
	if carried {
		require.Equal(t, want, got)
	} else {
		require.NotEqual(t, want, got)
	}
}

func TestEachFieldOfATokenIsKept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	eachField[model.UserToken](t, notCarried{"UsedAt": "each use records it"}, func(t *testing.T, l leaf, carried bool) {
		token := model.UserToken{
			ID: uuid.New(), UserName: uuid.NewString(), Role: "admin", CreatedBy: "root", CreatedAt: s.Now(), ExpiresAt: s.Now().Add(time.Hour),
		}
		want := l.change(&token)
		require.NoError(t, s.CreateToken(t.Context(), token))
		listed, err := s.Tokens(t.Context(), store.TokenFilter{UserName: token.UserName, OrgID: token.OrgID})
		require.NoError(t, err)
		require.Len(t, listed, 1)
		isCarried(t, carried, want, l.of(&listed[0]))
		used, err := s.UseToken(t.Context(), token.ID)
		require.NoError(t, err)
		isCarried(t, carried, want, l.of(&used))
		listed, err = s.Tokens(t.Context(), store.TokenFilter{UserName: token.UserName, OrgID: token.OrgID})
		require.NoError(t, err)
		require.False(t, listed[0].UsedAt.IsZero(), "the use is recorded")
	})
}

func TestEachFieldOfAManifestIsKept(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	another := func(l leaf, m *model.Manifest) any {
		switch l.name { // these take two values each
		case "Folder":
			m.Folder = "openshift"
		case "Source":
			m.Source = store.SourceSystem
		default:
			return l.change(m)
		}
		return l.of(m)
	}
	eachField[model.Manifest](t, notCarried{}, func(t *testing.T, l leaf, carried bool) {
		m := model.Manifest{
			ClusterID: newCluster(t, s).ID, Folder: "manifests", FileName: "a.yaml", Source: store.SourceUser,
			Blob: model.BlobRef{Key: "k", SHA256: "s", Size: 1},
		}
		put, moved := m, m
		want := another(l, &put)
		if l.name != "Folder" && l.name != "ClusterID" {
			require.NoError(t, s.PutManifest(t.Context(), m))
		}
		require.NoError(t, s.PutManifest(t.Context(), put), "over one that exists, if it is of the same place")
		listed, err := s.Manifests(t.Context(), put.ClusterID)
		require.NoError(t, err)
		isCarried(t, carried, want, l.of(&listed[len(listed)-1]))

		if l.name == "ClusterID" {
			return // a manifest stays in its cluster
		}
		moved.ClusterID = newCluster(t, s).ID
		require.NoError(t, s.PutManifest(t.Context(), moved))
		to := moved
		want = another(l, &to)
		require.NoError(t, s.MoveManifest(t.Context(), moved, to))
		listed, err = s.Manifests(t.Context(), to.ClusterID)
		require.NoError(t, err)
		isCarried(t, carried, want, l.of(&listed[len(listed)-1]))
	})
}

func TestEachFieldOfAnOperatorIsKept(t *testing.T) {
	t.Parallel()
	s := withOther(t)
	reports := notCarried{
		"Version": "reports write it", "Status": "reports write it", "StatusInfo": "reports write it",
		"StatusUpdatedAt": "the store sets it with reports",
	}
	read := func(t *testing.T, cluster uuid.UUID) model.MonitoredOperator {
		t.Helper()
		list, err := s.MonitoredOperators(t.Context(), cluster)
		require.NoError(t, err)
		byCluster, err := s.OperatorsByCluster(t.Context())
		require.NoError(t, err)
		require.Equal(t, list, byCluster[cluster], "both lists read the same")
		return list[len(list)-1]
	}
	eachField[model.MonitoredOperator](t, reports, func(t *testing.T, l leaf, carried bool) {
		o := model.MonitoredOperator{ClusterID: newCluster(t, s).ID, Name: "a", Type: "builtin", Timeout: time.Minute}
		other := func(o *model.MonitoredOperator) any {
			switch l.name {
			case "Type":
				o.Type = "olm"
			case "Status":
				o.Status = model.OperatorAvailable
			case "Timeout":
				o.Timeout = time.Hour
			default:
				return l.change(o)
			}
			return l.of(o)
		}
		write := func(o model.MonitoredOperator) {
			require.NoError(t, s.Write(t.Context(), func(t *store.Tx) error { t.Operators(o); return nil }))
		}
		created := o
		want := other(&created)
		write(created)
		got := read(t, created.ClusterID)
		isCarried(t, carried, want, l.of(&got))

		o.ClusterID = newCluster(t, s).ID
		write(o)
		reported := o
		want = other(&reported)
		if l.name != "ClusterID" && l.name != "Name" { // which operator it is
			require.NoError(t, s.ReportOperator(t.Context(), reported, func(*store.Tx) {}))
			got = read(t, o.ClusterID)
			isCarried(t, !carried && l.name != "StatusUpdatedAt", want, l.of(&got))
			require.False(t, got.StatusUpdatedAt.IsZero())
			write(reported)
			again := read(t, o.ClusterID)
			isCarried(t, l.name != "Type" && l.name != "StatusUpdatedAt", want, l.of(&again))
			require.Equal(t, got.StatusUpdatedAt, again.StatusUpdatedAt, "what was reported is kept")
		}
	})
}

func TestEachFieldOfAnEventIsKept(t *testing.T) {
	t.Parallel()
	lost := notCarried{"ID": "the database counts", "Quiet": "it suppresses repetitions"}
	for _, l := range leaves(reflect.TypeFor[model.Event]()) {
		if len(l.index) > 1 { // of Counted
			lost[l.name] = "it is for observers"
		}
	}
	for _, quiet := range []time.Duration{0, time.Hour} {
		s, _ := open(t)
		eachField[model.Event](t, lost, func(t *testing.T, l leaf, carried bool) {
			infraEnv := uuid.New()
			e := model.Event{
				Name: "x", Category: "user", Severity: model.SeverityInfo, InfraEnvID: &infraEnv, Message: "m", At: s.Now(), Quiet: quiet,
			}
			var want any
			switch l.name {
			case "Category":
				e.Category = "metrics"
				want = l.of(&e)
			case "Severity":
				e.Severity = model.SeverityError
				want = l.of(&e)
			case "Counted.Cluster", "Counted.Host":
				return // nouns, which observers get
			default:
				want = l.change(&e)
			}
			require.NoError(t, s.Write(t.Context(), func(t *store.Tx) error { t.Event(e); return nil }))
			page, err := s.Events(t.Context(), store.EventFilter{
				InfraEnvID: *e.InfraEnvID, Categories: []string{"user", "metrics"},
			})
			require.NoError(t, err)
			require.NotEmpty(t, page.Events)
			isCarried(t, carried, want, l.of(&page.Events[len(page.Events)-1]))
		})
	}
}
