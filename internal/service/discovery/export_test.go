package discovery

import "slipway/internal/wire"

// Reads reports whether replies to a step are read.
func Reads(t wire.StepType) bool { return readers[t] != nil }
