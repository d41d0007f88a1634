package operators_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/payload/operators"
	"slipway/test/bench/payload/plan"
)

var cluster = &plan.Cluster{Version: "4.20.5", ControlPlane: 3, Workers: 1}

func whole() operators.Facts {
	three := func() map[string]error { return map[string]error{"a": nil, "b": nil, "c": nil} }
	return operators.Facts{Masters: three(), Workers: map[string]error{"w": nil}, Etcd: three(), APIServers: three(), Controllers: three()}
}

func TestJudgeTellsWhatIs(t *testing.T) {
	t.Parallel()
	broken := errors.New("it burns")
	for name, c := range map[string]struct {
		change                 func(*operators.Facts)
		operator, message      string
		available, progressing bool
	}{
		"all works": {
			change: func(*operators.Facts) {}, operator: "etcd", available: true, message: "3 of 3 members of etcd work",
		},
		"a member of etcd is lost": {
			change: func(f *operators.Facts) { f.Etcd["b"] = broken }, operator: "etcd", available: true, progressing: true,
			message: "2 of 3 members of etcd work: b: it burns",
		},
		"the majority of etcd is lost": {
			change:   func(f *operators.Facts) { f.Etcd["a"], f.Etcd["b"] = broken, broken },
			operator: "etcd", progressing: true, message: "1 of 3 members of etcd work: a: it burns",
		},
		"etcd does not answer": {
			change: func(f *operators.Facts) { f.EtcdUnknown = broken }, operator: "etcd", progressing: true,
			message: "the members of etcd are not known: it burns",
		},
		"a master is missing": {
			change: func(f *operators.Facts) { delete(f.Masters, "c") }, operator: "machine-config", progressing: true,
			message: "2 of 3 masters and 1 of 1 workers are ready",
		},
		"a worker is missing": {
			change: func(f *operators.Facts) { f.Workers["w"] = broken }, operator: "machine-config", available: true,
			message: "3 of 3 masters and 0 of 1 workers are ready: w: it burns",
		},
		"the console is down": {
			change: func(f *operators.Facts) { f.Console = broken }, operator: "console", progressing: true,
			message: "the console does not answer: it burns",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := whole()
			c.change(&facts)
			for _, o := range operators.Evaluate(cluster, facts) {
				if o.Name == c.operator {
					require.Equal(
						t,
						operators.Operator{Name: c.operator, Available: c.available, Progressing: c.progressing, Message: c.message},
						o,
					)
					return
				}
			}
			require.Fail(t, "no such operator")
		})
	}
}

func TestClusterVersionWaitsForAll(t *testing.T) {
	t.Parallel()
	facts := whole()
	require.True(t, operators.ClusterVersion(cluster, operators.Evaluate(cluster, facts)).Available)
	facts.Console = errors.New("it burns")
	state := operators.ClusterVersion(cluster, operators.Evaluate(cluster, facts))
	require.False(t, state.Available)
	require.Equal(t, "Working towards 4.20.5: 5 of 6 done, waiting for console", state.Message)
}

func TestConditionsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	down := operators.Operator{Name: "etcd", Progressing: true, Message: "gone"}
	at := func(before []any, s operators.Operator, after time.Duration) []any {
		return operators.Conditions(before, s, "Degraded", begin.Add(after))
	}
	first := at(nil, down, 0)
	require.Equal(t, "False", find(first, "Degraded")["status"], "what has just begun is not broken")
	later := at(first, down, 11*time.Minute)
	require.Equal(t, "2030-01-01T00:00:00Z", find(later, "Available")["lastTransitionTime"])
	require.Equal(t, "True", find(later, "Degraded")["status"])
	require.Equal(t, "2030-01-01T00:11:00Z", find(later, "Degraded")["lastTransitionTime"])
	up := at(later, operators.Operator{Name: "etcd", Available: true}, 12*time.Minute)
	require.Equal(t, "False", find(up, "Degraded")["status"])
	require.Equal(t, "2030-01-01T00:12:00Z", find(up, "Available")["lastTransitionTime"])
}

func find(conditions []any, name string) map[string]any {
	for _, c := range conditions {
		if fields := c.(map[string]any); fields["type"] == name {
			return fields
		}
	}
	return nil
}
