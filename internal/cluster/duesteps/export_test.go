package duesteps

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// HasArguments reports whether the arguments of a step can be made.
func HasArguments(t wire.StepType) bool { return builderOf(t) != nil }

// Runs reports whether an agent is asked for a step.
func Runs(agent model.AgentSteps, t wire.StepType) bool { return runs(agent, t) }

// DueOf lists which of some steps are due.
func DueOf(v View, types ...wire.StepType) []Step { return due(v, types, nil) }
