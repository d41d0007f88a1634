package installer

import (
	"context"
	"fmt"
	"time"
)

// late says how long a thing may take to appear, and how long to wait between two looks.
type late struct{ limit, pause time.Duration }

// lateDevice is for what the kernel and udev make after a disk was written (openshift/assisted-installer takes 4 looks in 20 s).
var lateDevice = late{limit: 20 * time.Second, pause: 2 * time.Second}

// lateFirmware is for variables of the firmware, which it may refuse to read or write while it is busy.
var lateFirmware = late{limit: 6 * time.Second, pause: 2 * time.Second}

// until looks until look returns nil, at most as long as l says; then it returns the reason of the last look. It ends with ctx.
func (i *Installer) until(ctx context.Context, l late, look func() error) error {
	for left := l.limit; ; left -= l.pause {
		reason := look()
		if reason == nil {
			return nil
		}
		if left <= 0 {
			return fmt.Errorf("not within %s: %w", l.limit, reason)
		}
		if err := i.Sleep(ctx, l.pause); err != nil {
			return fmt.Errorf("%w: %w", err, reason)
		}
	}
}
