package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

const allChanges = 1000

// reader follows the feed as a client does.
type reader struct {
	s     *store.Store
	at    store.Cursor
	limit int
	whose store.Tenant
}

func read(t *testing.T, s *store.Store, limit int, whose store.Tenant) *reader {
	t.Helper()
	end, err := s.NumberChanges(t.Context())
	require.NoError(t, err)
	return &reader{s, end, limit, whose}
}

// next returns what changed since the last call, in lines: kind, id, and whether it is gone.
func (r *reader) next(t *testing.T) (lines []string) {
	t.Helper()
	_, err := r.s.NumberChanges(t.Context())
	require.NoError(t, err)
	for {
		found, next, err := r.s.ChangesAfter(t.Context(), r.at, r.whose, r.limit)
		require.NoError(t, err)
		if len(found) == 0 {
			r.at = next
			return lines
		}
		require.LessOrEqual(t, len(found), r.limit)
		text := next.String()
		r.at, err = store.ParseCursor(text)
		require.NoError(t, err)
		for _, c := range found {
			lines = append(lines, fmt.Sprintf("%s %s gone %t", c.Kind, c.ID, c.Gone))
		}
	}
}

func rename(t *testing.T, s *store.Store, id uuid.UUID, name string) {
	t.Helper()
	_, err := s.UpdateCluster(t.Context(), id, func(c *model.Cluster, _ *store.Tx) error {
		c.Name = name
		return nil
	})
	require.NoError(t, err)
}

func TestChangesOfObjects(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, limit := range []int{1, 2, allChanges} {
		r := read(t, s, limit, store.Tenant{})
		require.Empty(t, r.next(t))
		c := newCluster(t, s)
		h := newHost(t, s, &c.ID)
		require.Equal(t, []string{
			"cluster " + c.ID.String() + " gone false", "infra-env " + h.InfraEnvID.String() + " gone false",
			"host " + h.ID.String() + " gone false",
		}, r.next(t))
		require.Empty(t, r.next(t))

		rename(t, s, c.ID, "one")
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Role = model.RoleMaster
			return nil
		})
		require.NoError(t, err)
		rename(t, s, c.ID, "two")
		require.Equal(t, []string{"host " + h.ID.String() + " gone false", "cluster " + c.ID.String() + " gone false"}, r.next(t),
			"each object once, by its newest change")

		_, err = s.UpdateHostFacts(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Facts = model.Facts{"inventory": {AskedAt: time.Now()}}
			return nil
		})
		require.NoError(t, err)
		rename(t, s, c.ID, "two")
		require.Empty(t, r.next(t), "neither a question to a host nor an update without a difference is a change")

		_, err = s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
			tx.Operators(model.MonitoredOperator{ClusterID: c.ID, Name: "dns", Type: "builtin"})
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []string{"cluster " + c.ID.String() + " gone false"}, r.next(t))

		require.NoError(t, s.DeleteCluster(t.Context(), c.ID, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
		require.ElementsMatch(t, []string{
			"host " + h.ID.String() + " gone true", "infra-env " + h.InfraEnvID.String() + " gone false",
			"cluster " + c.ID.String() + " gone true",
		}, r.next(t))
		purged, err := s.PurgeCluster(t.Context(), c.ID)
		require.NoError(t, err)
		require.True(t, purged)
		for _, line := range r.next(t) {
			require.NotContains(t, line, c.ID.String()+" gone false")
		}
	}
}

// A transaction that ends late is numbered late: a reader that was there before sees it.
func TestChangeOfALateTransactionIsSeen(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	early, late := newCluster(t, s), newCluster(t, s)
	r := read(t, s, allChanges, store.Tenant{})
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `update slipway.clusters set name = 'late', updated_at = now() where id = $1`, late.ID)
	require.NoError(t, err)
	rename(t, s, early.ID, "early")
	require.Equal(t, []string{"cluster " + early.ID.String() + " gone false"}, r.next(t))
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, []string{"cluster " + late.ID.String() + " gone false"}, r.next(t))
}

// Writers, two processes that number and a reader at once: the reader has the last version of everything in the end.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	const writers, clusters, rounds = 6, 5, 60
	ids := make([]uuid.UUID, clusters)
	for n := range ids {
		ids[n] = newCluster(t, s).ID
	}
	r := read(t, s, 3, store.Tenant{})
	ctx, end := context.WithCancel(t.Context())
	var numbering, writing sync.WaitGroup
	for range 2 {
		numbering.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.NumberChanges(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for n := range rounds {
				_, err := s.UpdateCluster(ctx, ids[rand.IntN(clusters)], func(c *model.Cluster, _ *store.Tx) error {
					c.Name = strconv.Itoa(w*rounds + n)
					time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	seen := map[uuid.UUID]string{}
	follow := func() {
		found, next, err := s.ChangesAfter(t.Context(), r.at, r.whose, r.limit)
		require.NoError(t, err)
		r.at = next
		for _, c := range found {
			now, err := s.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			seen[c.ID] = now.Name
		}
	}
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
			follow()
		}
	}
	end()
	numbering.Wait()
	last, err := s.NumberChanges(t.Context())
	require.NoError(t, err)
	for r.at != last {
		follow()
	}
	for _, id := range ids {
		now, err := s.Cluster(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, now.Name, seen[id])
	}
}

func TestChangesAreTheirTenants(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	all, red, anna := read(t, s, allChanges, store.Tenant{}), read(t, s, allChanges, store.Tenant{OrgID: "red"}),
		read(t, s, allChanges, store.Tenant{Owner: "anna"})
	made := func(user, org string) string {
		c := &model.Cluster{
			ID: uuid.New(), Kind: model.KindCluster, Name: "c", Status: model.ClusterInsufficient, UserName: user, OrgID: org, ControlPlaneCount: 3,
		}
		require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
		return "cluster " + c.ID.String() + " gone false"
	}
	ofRed, ofAnna, ofBert := made("anna", "red"), made("anna", ""), made("bert", "")
	require.Equal(t, []string{ofRed, ofAnna, ofBert}, all.next(t))
	require.Equal(t, []string{ofRed}, red.next(t))
	require.Equal(t, []string{ofAnna}, anna.next(t))

	e := &model.InfraEnv{ID: uuid.New(), Name: "env", UserName: "bert", OrgID: "red"}
	require.NoError(t, s.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
	h, err := s.RegisterHost(t.Context(), e.ID, uuid.New(), func() *model.Host {
		return &model.Host{Kind: model.KindHost, Status: model.HostDiscoveringUnbound, Role: model.RoleAutoAssign, AgentSteps: model.FineSteps}
	}, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"infra-env " + e.ID.String() + " gone false", "host " + h.ID.String() + " gone false"}, red.next(t))
	require.Empty(t, anna.next(t))
}

func TestOldCursorsAreGone(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	kept, gone := newCluster(t, s), newCluster(t, s)
	old := read(t, s, allChanges, store.Tenant{})
	require.NoError(t, s.DeleteCluster(t.Context(), gone.ID, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	late := read(t, s, allChanges, store.Tenant{})
	require.NoError(t, s.ForgetChanges(t.Context(), time.Now().Add(-time.Hour)))
	_, _, err := s.ChangesAfter(t.Context(), old.at, store.Tenant{}, allChanges)
	require.NoError(t, err, "an hour has not passed")

	require.NoError(t, s.ForgetChanges(t.Context(), time.Now().Add(time.Hour)))
	_, _, err = s.ChangesAfter(t.Context(), old.at, store.Tenant{}, allChanges)
	require.ErrorIs(t, err, model.ErrGone)
	rename(t, s, kept.ID, "b")
	require.Equal(t, []string{"cluster " + kept.ID.String() + " gone false"}, late.next(t))
	require.NoError(t, s.ForgetChanges(t.Context(), time.Now().Add(time.Hour)), "nothing is left to forget")
	_, _, err = s.ChangesAfter(t.Context(), late.at, store.Tenant{}, allChanges)
	require.NoError(t, err)

	require.NoError(t, store.RenewFeed(t.Context(), url))
	_, _, err = s.ChangesAfter(t.Context(), late.at, store.Tenant{}, allChanges)
	require.ErrorIs(t, err, model.ErrGone)

	for _, text := range []string{
		"", "1", "x.1", uuid.NewString(), uuid.NewString() + ".", uuid.NewString() + ".-1", uuid.NewString() + ".1.2",
	} {
		_, err := store.ParseCursor(text)
		require.ErrorIs(t, err, model.ErrInvalid, text)
		require.ErrorContains(t, err, "after: require a cursor of an earlier answer, found "+strconv.Quote(text))
	}
}
