package model

import "time"

// Defaults of the time-outs that rules share with installations (docs/reference/state-rules.md, "Time-outs").
const (
	DefaultDisconnectAfter = 3 * time.Minute
	DefaultBootstrapGrace  = 2 * time.Minute
	DefaultVIPLease        = 2 * time.Minute
)
