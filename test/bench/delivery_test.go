package bench_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"slipway/test/built"
	"slipway/workflows"
)

// delivery has workflows ask the hosts of whole clusters for a step, while all 1,000
// hosts wait for one: the reset of a cluster has each host stop its installation.
func (s *service) delivery(b *testing.B, fleet []*cluster, machines []*machine) {
	a := s.hold(machines)
	history, err := client.DialContext(b.Context(), built.Temporal(b, s.dir))
	require.NoError(b, err)
	defer history.Close()
	for b.Loop() {
		var armed, handed, held []time.Duration
		var resets effort
		for _, c := range fleet[:deliveryClusters] {
			resets.add(s.measure(len(c.machines), c.reset))
			for _, d := range c.deliveries(history, a) {
				armed, handed, held = append(armed, d.armed), append(handed, d.sent), append(held, d.arrived)
			}
			c.recovers()
		}
		require.GreaterOrEqual(b, len(held), 200, "samples")
		b.ReportMetric(percentile(held, 50).Seconds(), "s-p50")
		b.ReportMetric(percentile(held, 95).Seconds(), "s-p95")
		b.ReportMetric(percentile(held, 100).Seconds(), "s-max")
		b.ReportMetric(percentile(armed, 95).Seconds(), "s-p95-activity-began")
		b.ReportMetric(percentile(handed, 95).Seconds(), "s-p95-handed-out")
		b.ReportMetric(microseconds(resets.used.total())/1000/float64(resets.requests), "cpu-ms/step")
		b.ReportMetric(float64(len(held)), "samples")
	}
	a.end()
	b.ReportMetric(0, "ns/op")
}

// reset takes a cluster back to discovery, as after an installation that was cancelled.
func (c *cluster) reset() {
	c.tb.Helper()
	_, err := c.tables.Exec(c.tb.Context(), `update clusters set status = 'cancelled' where id = $1`, c.id)
	require.NoError(c.tb, err)
	_, err = c.client.ResetCluster(c.tb.Context(), c.id)
	require.NoError(c.tb, err)
	const finished = `select count(*) from clusters where id = $1 and status <> 'cancelled'`
	eventually(c.tb, "cluster reset", time.Minute, func() bool { return count(c.service, finished, c.id) == 1 })
}

// recovers waits until the hosts were discovered again.
func (c *cluster) recovers() {
	c.tb.Helper()
	const known = `select count(*) from hosts where cluster_id = $1 and status = 'known'`
	eventually(c.tb, "hosts discovered again", 2*time.Minute, func() bool {
		return count(c.service, known, c.id) == len(c.machines)
	})
	c.settled()
}

// delivered is when a step got where, after its workflow scheduled it.
type delivered struct{ armed, sent, arrived time.Duration }

// deliveries follows every step of the reset of a cluster from Temporal's history
// through the database to the agent.
func (c *cluster) deliveries(history client.Client, a *agents) []delivered {
	c.tb.Helper()
	scheduled := map[string]time.Time{}
	events := history.GetWorkflowHistory(
		c.tb.Context(),
		workflows.ResetWorkflowID(c.id),
		"",
		false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
	)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(c.tb, err)
		if activity := event.GetActivityTaskScheduledEventAttributes(); activity != nil {
			scheduled[activity.GetActivityId()] = event.GetEventTime().AsTime()
		}
	}
	rows, err := c.tables.Query(c.tb.Context(), `
		select activity_id, id, created_at, sent_at
		from pending_activities
		where cluster_id = $1 and type = 'stop-installation' and sent_at is not null`, c.id)
	require.NoError(c.tb, err)
	var out []delivered
	var activity, step string
	var created, sent time.Time
	_, err = pgx.ForEachRow(rows, []any{&activity, &step, &created, &sent}, func() error {
		begun := scheduled[activity]
		require.False(c.tb, begun.IsZero(), "activity %s is not in the history", activity)
		arrived, ok := a.arrivals.Load(step)
		require.True(c.tb, ok, "step %s did not arrive", step)
		out = append(out, delivered{created.Sub(begun), sent.Sub(begun), arrived.(time.Time).Sub(begun)})
		return nil
	})
	require.NoError(c.tb, err)
	require.Len(c.tb, out, len(c.machines))
	return out
}
