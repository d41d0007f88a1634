package sim

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"slipway/agent"
	"slipway/internal/wire"
)

// disks lets the agent measure the machine's disks.
type disks struct{ *Machine }

var _ agent.DiskSpeed = disks{}

// usualSync and slowSync are 99th percentiles of a synced write; the contract asks for
// 10 ms at most.
const (
	usualSync = 2400 * time.Microsecond
	slowSync  = 38 * time.Millisecond
)

// SyncLatency implements agent.DiskSpeed.
func (d disks) SyncLatency(ctx context.Context, path string) (time.Duration, error) {
	if err := d.clock.Wait(ctx, d.times.DiskTest); err != nil {
		return 0, err
	}
	if d.fails(string(wire.StepTypeInstallationDiskSpeedCheck)) {
		return 0, fmt.Errorf("write %s: %w", path, syscall.EIO)
	}
	if d.options.Faults.SlowDisk {
		return slowSync, nil
	}
	return usualSync, nil
}
