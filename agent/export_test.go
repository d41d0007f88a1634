package agent

import "slipway/internal/wire"

// Runs reports whether the agent can run a step.
func (a *Agent) Runs(t wire.StepType) bool { return a.specs[t].run != nil }
