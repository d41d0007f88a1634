package discovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// clocks are the verdicts on a host's clock, and on the clocks of its cluster.
type clocks struct{ host, cluster model.ValidationStatus }

func (m *machine) clocks(t *testing.T) clocks {
	t.Helper()
	h := m.read(t)
	found := clocks{host: m.validation(t, "time-synced-between-host-and-service").Status}
	for _, r := range m.readCluster(t, *h.ClusterID).Validations {
		if r.ID == "ntp-server-configured" {
			found.cluster = r.Status
		}
	}
	return found
}

func TestClockIsJudgedAgainWhenItsVerdictChanges(t *testing.T) {
	t.Parallel()
	const ok, bad, open = model.ValidationSuccess, model.ValidationFailure, model.ValidationPending
	tests := map[string]struct {
		clocks []time.Duration // how far the host's clock is ahead, poll by poll
		want   []clocks
	}{
		"when a clock that is hours ahead is corrected": {
			[]time.Duration{3 * time.Hour, 0}, []clocks{{bad, bad}, {ok, ok}},
		},
		"when a clock that is hours behind is corrected": {
			[]time.Duration{-3 * time.Hour, 0}, []clocks{{bad, bad}, {ok, ok}},
		},
		"when a clock goes wrong, and is corrected": {
			[]time.Duration{0, 2 * time.Hour, 0}, []clocks{{ok, ok}, {bad, bad}, {ok, ok}},
		},
		"when only the cluster's rule is concerned": {
			[]time.Duration{0, 5 * time.Minute, 0}, []clocks{{ok, ok}, {ok, bad}, {ok, ok}},
		},
		"when it moves past the cluster's limit by a small step, and back": {
			[]time.Duration{225 * time.Second, 255 * time.Second, 225 * time.Second}, []clocks{{ok, ok}, {ok, bad}, {ok, ok}},
		},
		"when a host that reported no time reports it": {
			[]time.Duration{noClock, 2 * time.Hour}, []clocks{{open, ok}, {bad, bad}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.run(t)
			_, env := l.cluster(t)
			right, m := l.machine(env, 0), l.machine(env, 1)
			for _, each := range []*machine{right, m} {
				each.register(t)
			}
			for n, ahead := range test.clocks {
				m.ahead = ahead
				for _, each := range []*machine{right, m} {
					for _, step := range each.poll(t).Instructions {
						if n == 0 && step.StepType == wire.StepTypeInventory {
							require.NoError(t, each.reply(t, *each.answer(step)))
						}
					}
				}
				eventually(t, func() bool { return m.clocks(t) == test.want[n] }, "the clock was not judged again", func() any {
					return []any{n, "found", m.clocks(t), "want", test.want[n]}
				})
				l.pass(time.Minute)
			}
		})
	}
}
