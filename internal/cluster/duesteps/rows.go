package duesteps

import (
	"cmp"
	"slices"
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Row is a line of the table of states, for documentation.
type Row struct {
	Kinds    []model.HostKind // empty: any
	Statuses []model.HostStatus
	Steps    []wire.StepType // in the order they are handed out
	Seconds  int             // until the next poll of an agent that does not wait
	Exit     bool            // the agent registers again
	Eager    bool            // answers are asked for again sooner
	Why      string
}

// Table returns the table of states.
func Table() []Row {
	out := make([]Row, len(stateRows))
	for i, r := range stateRows {
		out[i] = Row{slices.Clone(r.kinds), slices.Clone(r.statuses), slices.Clone(r.steps), r.seconds, r.exit, r.eager, r.why}
	}
	return out
}

// Repetition says when a step is asked of a host again, for documentation.
type Repetition struct {
	Step wire.StepType
	// On names the state whose change makes the answer void: "", "networks" or "hosts".
	On string
	// Fresh is how long an answer holds, Eager how long where a row is eager; zero: without a limit.
	Fresh, Eager time.Duration
	// Retry is when a step without an answer is asked again.
	Retry     time.Duration
	PerStatus bool // asked once each time the host comes into a status
	Why       string
}

// Repetitions lists the steps by name.
func Repetitions() []Repetition {
	on := map[subject]string{onNetworks: "networks", onHosts: "hosts"}
	var out []Repetition
	for step, p := range policies {
		out = append(out, Repetition{step, on[p.of], p.fresh, p.eager, p.retry, p.perStatus, p.why})
	}
	slices.SortFunc(out, func(a, b Repetition) int { return cmp.Compare(a.Step, b.Step) })
	return out
}
