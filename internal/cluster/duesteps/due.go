package duesteps

import (
	"time"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// View is the part of a host's state that decides which steps are due.
type View struct {
	Kind       model.HostKind
	Status     model.HostStatus
	AgentSteps model.AgentSteps
	Facts      model.Facts
	// StatusUpdatedAt is when the host got its status: a step asked once in a status is asked again when the host comes back to it.
	StatusUpdatedAt time.Time
	// NetworkGeneration and HostsGeneration are the cluster's; zero while unbound.
	NetworkGeneration int64
	HostsGeneration   int64
	// Hosts is how many hosts the cluster has, as far as known: checks of a large cluster
	// are spread over time.
	Hosts int
	// LogsDone is set when the logs of the host were collected or are given up.
	LogsDone bool
	// UpgradeAgent is set when the host must run another agent first.
	UpgradeAgent bool
	Now          time.Time
}

// Step is a step that is due.
type Step struct {
	Type wire.StepType
	// Fact is the name under which the step is recorded in model.Host.Facts.
	Fact model.Fact
	// Generation belongs into the record.
	Generation int64
}

// Due lists the steps to hand out now, in the order of the contract. For each the
// caller makes Args and records Asked, or Skipped when Args gave ErrSkip.
func Due(v View) []Step {
	if v.UpgradeAgent && upgradable[v.Status] {
		return due(v, []wire.StepType{wire.StepTypeUpgradeAgent}, nil)
	}
	r := rowFor(v.Kind, v.Status)
	if r == nil {
		return nil
	}
	return due(v, r.steps, r)
}

// exclusive are the kinds of agents that run the steps which not every agent runs.
var exclusive = func() map[wire.StepType]steps.Agents {
	out := map[wire.StepType]steps.Agents{}
	for _, s := range steps.All() {
		if s.Agents != steps.AnyAgent {
			out[s.Type] = s.Agents
		}
	}
	return out
}()

// runs reports whether an agent runs a step.
func runs(agent model.AgentSteps, t wire.StepType) bool {
	switch exclusive[t] {
	case steps.OurAgent:
		return agent == model.FineSteps
	case steps.OtherAgents:
		return agent != model.FineSteps
	default:
		return true
	}
}

func due(v View, types []wire.StepType, r *stateRow) []Step {
	var out []Step
	for _, t := range types {
		if !runs(v.AgentSteps, t) {
			continue
		}
		p := policies[t]
		generation := p.generation(&v)
		if p.due(&v, v.Facts[model.Fact(t)], generation, r != nil && r.eager) {
			out = append(out, Step{Type: t, Fact: model.Fact(t), Generation: generation})
		}
	}
	return out
}

// Asked returns the record of a step that was handed out under an id.
func Asked(before model.FactRecord, s Step, stepID string, now time.Time) model.FactRecord {
	before.AskedAt, before.Generation, before.StepID = now, s.Generation, stepID
	return before
}

// Answered returns the record after a successful reply. A failed reply is not recorded, the step is repeated after a while.
func Answered(before model.FactRecord, now time.Time) model.FactRecord {
	before.AnsweredAt = now
	return before
}

// Skipped returns the record of a step that does not apply to the host: it is looked at again like an answered step.
func Skipped(before model.FactRecord, s Step, now time.Time) model.FactRecord {
	before.AskedAt, before.AnsweredAt, before.Generation = now, now, s.Generation
	return before
}

// Busy reports whether a poll should come back soon: an answer is expected any moment
// and more is asked once it is there.
func Busy(v View) bool {
	r := rowFor(v.Kind, v.Status)
	if r == nil {
		return false
	}
	for _, t := range r.steps {
		rec := v.Facts[model.Fact(t)]
		if runs(v.AgentSteps, t) && !rec.AskedAt.IsZero() && rec.AnsweredAt.Before(rec.AskedAt) && v.Now.Sub(rec.AskedAt) < busyFor {
			return true
		}
	}
	return false
}

// busyFor covers the quick steps; connectivity takes ten seconds.
const busyFor = 20 * time.Second
