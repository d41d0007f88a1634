package objects_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/objects"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// service plays the feed of changes: each request takes the next answer, and waits when there is none.
type service struct {
	answers []answer
	after   []string // cursors that were asked with
	objects []wire.KubeObject
	lists   int
	listing func() // is called while a list is on its way
}

type answer struct {
	changes wire.Changes
	err     error
}

func (s *service) Changes(ctx context.Context, after string, _ time.Duration, _ ...client.Option) (wire.Changes, error) {
	s.after = append(s.after, after)
	if len(s.answers) == 0 {
		<-ctx.Done()
		return wire.Changes{}, ctx.Err()
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next.changes, next.err
}

func (s *service) KubeObjects(context.Context, ...client.Option) ([]wire.KubeObject, error) {
	s.lists++
	list := slices.Clone(s.objects)
	if s.listing != nil {
		s.listing()
	}
	return list, nil
}

func changed(cursor string, ids ...uuid.UUID) answer {
	a := answer{changes: wire.Changes{Cursor: cursor}}
	for _, id := range ids {
		a.changes.Changes = append(a.changes.Changes, wire.Change{Kind: "infra-env", ID: id})
	}
	return a
}

// Hosts have the namespace of their InfraEnv; hosts of InfraEnvs that users made have none.
func TestHostsAreFoundByTheirInfraEnvs(t *testing.T) {
	t.Parallel()
	env, users, first, second := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	host := func(cursor string, id, of uuid.UUID, deleted bool) answer {
		return answer{changes: wire.Changes{Cursor: cursor, Changes: []wire.Change{{Kind: "host", ID: id, InfraEnvID: &of, Deleted: deleted}}}}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &service{
			objects: []wire.KubeObject{{Kind: "infra-env", ID: env, Namespace: "n", Name: "one"}},
			answers: []answer{
				changed("c.1"), host("c.2", first, env, false), host("c.3", second, users, false),
				{err: model.ErrGone},
				changed("d.1"),
				host("d.2", first, env, true),
			},
		}
		x := objects.New(s, slog.New(slog.NewTextHandler(io.Discard, nil)), time.Now)
		missed, seen := 0, []types.NamespacedName{}
		x.WatchMissed(func() { missed++ })
		x.Watch(objects.Host, func(key types.NamespacedName) {
			seen = append(seen, key)
			if len(seen) == 1 {
				of, id, known := x.InfraEnvOf(first)
				require.Equal(t, "n/one", of.String())
				require.Equal(t, env, id)
				require.True(t, known)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- x.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []types.NamespacedName{{Namespace: "n", Name: first.String()}, {Namespace: "n", Name: first.String()}}, seen)
		require.Equal(t, 2, missed, "at the start, and for the forgotten cursor")
		require.Equal(t, 2, s.lists, "hosts ask for no list of InfraEnvs")
		require.Equal(t, map[types.NamespacedName]uuid.UUID{{Namespace: "n", Name: "one"}: env}, x.InfraEnvs())
		for _, id := range []uuid.UUID{first, second} {
			_, _, known := x.InfraEnvOf(id)
			require.False(t, known, "it was deleted, or is a user's")
		}
		x.SetHost(second, env)
		_, _, known := x.InfraEnvOf(second)
		require.True(t, known)
		cancel()
		require.NoError(t, <-ended)
	})
}

// Objects that are made and deleted while a list is on its way are not in it as they are.
func TestAListDoesNotUndoWhatIsNewer(t *testing.T) {
	t.Parallel()
	one, two := uuid.New(), uuid.New()
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "n", Name: name} }
	s := &service{objects: []wire.KubeObject{{Kind: "cluster", ID: one, Namespace: "n", Name: "one"}}}
	x := objects.New(s, slog.New(slog.DiscardHandler), time.Now)
	s.listing = func() {
		x.Set(objects.Cluster, key("one"), uuid.Nil)
		x.Set(objects.Cluster, key("two"), two)
	}
	require.NoError(t, x.Load(t.Context()))
	_, known, err := x.ID(t.Context(), objects.Cluster, key("one"))
	require.NoError(t, err)
	require.False(t, known)
	id, known, err := x.ID(t.Context(), objects.Cluster, key("two"))
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, two, id)

	s.listing = nil
	require.NoError(t, x.Load(t.Context()))
	id, _, err = x.ID(t.Context(), objects.Cluster, key("one"))
	require.NoError(t, err)
	require.Equal(t, one, id, "a later list has what is")
	_, known, err = x.ID(t.Context(), objects.Cluster, key("two"))
	require.NoError(t, err)
	require.False(t, known)
}

func TestTheIndexFollowsTheFeed(t *testing.T) {
	t.Parallel()
	one, two, users := uuid.New(), uuid.New(), uuid.New()
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "n", Name: name} }
	synctest.Test(t, func(t *testing.T) {
		s := &service{
			objects: []wire.KubeObject{{Kind: "infra-env", ID: one, Namespace: "n", Name: "one"}},
			answers: []answer{
				changed("c.1"), changed("c.2", one),
				{err: errors.New("away")},
				changed("c.3", two), changed("c.4", users), changed("c.5", users),
				{err: model.ErrGone},
				changed("d.1"),
			},
		}
		x := objects.New(s, slog.New(slog.NewTextHandler(io.Discard, nil)), time.Now)
		var seen []string
		x.Watch(objects.InfraEnv, func(key types.NamespacedName) {
			seen = append(seen, key.Name)
			if len(seen) == 2 { // another process registers one
				s.objects = append(s.objects, wire.KubeObject{Kind: "infra-env", ID: two, Namespace: "n", Name: "two"})
			}
		})
		early, cancelled := context.WithCancel(t.Context())
		cancelled()
		_, _, err := x.ID(early, objects.InfraEnv, key("one"))
		require.ErrorIs(t, err, context.Canceled, "nothing is known yet")

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- x.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"", "c.1", "c.2", "c.2", "c.3", "c.4", "c.5", "", "d.1"}, s.after, "an error moves no cursor")
		require.Equal(t, []string{"one", "one", "two"}, seen[:3])
		require.ElementsMatch(t, []string{"one", "two"}, seen[3:], "all may have changed when the cursor is forgotten")
		require.Equal(t, 4, s.lists, "at the start, for each that was not known, and for the forgotten cursor")
		id, known, err := x.ID(t.Context(), objects.InfraEnv, key("two"))
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, two, id)
		_, known, err = x.ID(t.Context(), objects.Cluster, key("two"))
		require.NoError(t, err)
		require.False(t, known)

		x.Set(objects.InfraEnv, key("two"), uuid.Nil)
		_, known, _ = x.ID(t.Context(), objects.InfraEnv, key("two"))
		require.False(t, known)
		cancel()
		require.NoError(t, <-ended)
	})
}
