package sim

import (
	"context"
	"time"

	"slipway/internal/platform/hostexec"
)

// Times are how long the parts of an installation take on a real machine.
type Times struct {
	LiveBoot     time.Duration // from power on to the agent
	DiskBoot     time.Duration // a boot from a disk that ran before
	FirstBoot    time.Duration // the first boot from a disk: Ignition, the operating system of the release; another boot follows
	ImageWrite   time.Duration // coreos-installer
	ImagePull    time.Duration // podman pull
	DiskTest     time.Duration // of synced writes
	NodeImage    time.Duration // node-image-pull.service
	ControlPlane time.Duration // bootkube.service until its API answers
	Bootkube     time.Duration // from enough masters being ready until bootkube is done
	NodeReady    time.Duration // from joining to being ready
	NodeGrace    time.Duration // until a node that stopped is missed (node-monitor-grace-period of kube-controller-manager)
	Controller   time.Duration // from the first ready master until the controller's pod runs
	Rollout      time.Duration // of the operators
	BootFix      time.Duration // until somebody corrects a wrong boot order
}

// RealTimes are the times of bare metal in a data centre.
var RealTimes = Times{
	LiveBoot: 3 * time.Minute, DiskBoot: 3 * time.Minute, FirstBoot: 4 * time.Minute, ImageWrite: 3 * time.Minute,
	ImagePull: 15 * time.Second, DiskTest: 10 * time.Second,
	NodeImage: 3 * time.Minute, ControlPlane: 4 * time.Minute, Bootkube: 6 * time.Minute,
	NodeReady: 90 * time.Second, NodeGrace: 40 * time.Second, Controller: time.Minute, Rollout: 15 * time.Minute, BootFix: 5 * time.Minute,
}

// Clock makes simulated time pass. Its zero value lets nothing take time.
type Clock struct {
	// Speed is how much faster than real time passes: 60 makes a minute a second, zero
	// makes every wait end at once.
	Speed float64
}

// shortestPause bounds how often a loop that waits between two looks turns.
const shortestPause = 25 * time.Millisecond

// Real returns how long a simulated duration takes.
func (c Clock) Real(d time.Duration) time.Duration {
	if c.Speed <= 0 {
		return 0
	}
	return time.Duration(float64(d) / c.Speed)
}

// Wait lets a simulated duration pass, or returns the error of ctx early.
func (c Clock) Wait(ctx context.Context, d time.Duration) error {
	if real := c.Real(d); real > 0 {
		return hostexec.Sleep(ctx, real)
	}
	return ctx.Err()
}

// Pause waits in loops that look again and again: never shorter than 25 ms.
func (c Clock) Pause(ctx context.Context, d time.Duration) error {
	return hostexec.Sleep(ctx, max(c.Real(d), min(d, shortestPause)))
}

// Until waits until a simulated duration after start is over.
func (c Clock) Until(ctx context.Context, start time.Time, d time.Duration, now time.Time) error {
	left := c.Real(d) - now.Sub(start)
	if left <= 0 {
		return ctx.Err()
	}
	return hostexec.Sleep(ctx, left)
}
