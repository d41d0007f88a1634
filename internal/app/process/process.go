// Package process holds what every long-running command of slipway needs from its process:
// the log, one HTTP listener with probes, a soft memory limit, and an ordered shutdown.
package process

import (
	"io"
	"log/slog"
	"time"

	"go.temporal.io/sdk/contrib/envconfig"
)

// Process holds what a command gets from its process.
type Process struct {
	Stdout io.Writer
	Stderr io.Writer
	Log    *slog.Logger
	Env    envconfig.EnvLookup
	Now    func() time.Time
}
