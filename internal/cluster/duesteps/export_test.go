package duesteps

import "slipway/internal/wire"

// HasArguments reports whether the arguments of a step can be made.
func HasArguments(t wire.StepType) bool { return builderOf(t) != nil }
