package lifecycle

import "time"

// Pauses of the evaluation where a deployment sets none.
const (
	// DefaultHostMonitor is the longest pause between two searches for hosts that fell silent.
	DefaultHostMonitor = 5 * time.Second
	// DefaultClusterMonitor is how often marks are looked for without a signal.
	DefaultClusterMonitor = 10 * time.Second
)
