package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

func TestEventThatRepeatsItselfIsWrittenOnceInItsTime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	cluster, host := uuid.New(), uuid.New()
	begin := time.Now()
	write := func(after time.Duration, change func(*model.Event)) {
		e := model.Event{
			Name: "again", Category: "user", Severity: model.SeverityInfo, ClusterID: &cluster, HostID: &host,
			Message: "the same", At: begin.Add(after), Quiet: time.Minute,
		}
		change(&e)
		require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error { tx.Event(e); return nil }))
	}
	as := func(*model.Event) {}
	write(0, as)
	write(30*time.Second, as)
	count := func() int {
		counts, err := s.CountEvents(t.Context(), store.EventFilter{ClusterID: cluster})
		require.NoError(t, err)
		return counts.Total
	}
	require.Equal(t, 1, count(), "too soon")
	write(30*time.Second, func(e *model.Event) { e.Message = "another" })
	require.Equal(t, 2, count(), "another message")
	other := uuid.New()
	write(30*time.Second, func(e *model.Event) { e.HostID = &other })
	require.Equal(t, 3, count(), "another host")
	write(30*time.Second, func(e *model.Event) { e.HostID = nil })
	write(40*time.Second, func(e *model.Event) { e.HostID = nil })
	require.Equal(t, 3, count(), "the cluster has an event of its own for it")
	write(61*time.Second, as)
	require.Equal(t, 4, count(), "late enough")
}

func TestEventsAreObservedAfterTheirCommit(t *testing.T) {
	t.Parallel()
	url := pgtest.Migrated(t, store.Migrate)
	var seen []string
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now, Observe: func(list []model.Event) {
		for _, e := range list {
			seen = append(seen, e.Name)
		}
	}})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	tell := func(name string, fail error) error {
		return s.Write(t.Context(), func(tx *store.Tx) error {
			tx.Event(model.Event{Name: name, Category: "user", Severity: model.SeverityInfo, Message: "m", At: tx.Now()})
			return fail
		})
	}
	require.NoError(t, tell("kept", nil))
	require.Error(t, tell("lost", model.Conflictf("no")))
	require.Equal(t, []string{"kept"}, seen)
}

func TestEventHasNoSecretThatItsTextsRepeat(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	cluster := uuid.New()
	props := map[string]any{"error": "Authorization: Bearer c4nary77", "count": 3}
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		tx.Event(model.Event{
			Name: "failed", Category: "user", Severity: model.SeverityInfo, ClusterID: &cluster, At: time.Now(), Props: props,
			Message: "Host m0: read http://user:c4nary77@192.0.2.9: refused",
		})
		return nil
	}))
	require.Contains(t, props["error"], "c4nary77", "the caller's map stays")
	n := 0
	require.NoError(t, s.EachEvent(t.Context(), store.EventFilter{ClusterID: cluster}, func(e model.Event) error {
		n++
		require.Equal(t, "Host m0: read http://user:[redacted]@192.0.2.9: refused", e.Message)
		require.Equal(t, "Authorization: [redacted]", e.Props["error"])
		require.InDelta(t, 3, e.Props["count"], 0)
		return nil
	}))
	require.Equal(t, 1, n)
}
