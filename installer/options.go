package installer

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"time"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
)

// Node is a control plane node of the new cluster.
type Node struct {
	Name      string
	Addresses []netip.Addr // internal ones
	Ready     bool
}

// Kube reads what the installer needs from the API of the new cluster.
type Kube interface {
	// Masters lists the control plane nodes.
	Masters(ctx context.Context) ([]Node, error)
	// EventExists reports whether an Event of that name is in the namespace.
	EventExists(ctx context.Context, namespace, name string) (bool, error)
}

// OpenKube makes a Kube from the content of a kubeconfig file.
type OpenKube func(kubeconfig []byte) (Kube, error)

// Options configure an Installer.
type Options struct {
	Root   hostexec.Root
	Runner hostexec.Runner
	Client *client.Client
	Kube   OpenKube
	// Sleep waits, or returns the error of ctx early; hostexec.Sleep when nil.
	Sleep func(ctx context.Context, d time.Duration) error
	// Insecure and CACert (a path on the host) configure how the controller reaches the service.
	Insecure bool
	CACert   string
	// FarewellLimit bounds the sending of logs before a reboot, and the setting of the boot
	// order; five minutes when zero.
	FarewellLimit time.Duration
	// CleanLimit bounds each command that frees a disk, LogLimit each one whose output goes
	// into the logs: those that ask a disk which does not answer hang. Five minutes and one
	// when zero.
	CleanLimit, LogLimit time.Duration
	// FetchPause is between two looks at who fetched its Ignition, while the API of the new
	// cluster is asked for something else; five seconds when zero.
	FetchPause time.Duration
	Log        *slog.Logger // slog.Default() when nil
}

// Installer runs the stages of an installation on one host.
type Installer struct {
	Options
}

// New makes an Installer.
func New(o Options) *Installer {
	if o.Sleep == nil {
		o.Sleep = hostexec.Sleep
	}
	o.FarewellLimit = cmp.Or(o.FarewellLimit, farewellLimit)
	o.CleanLimit = cmp.Or(o.CleanLimit, cleanLimit)
	o.LogLimit = cmp.Or(o.LogLimit, logLimit)
	o.FetchPause = cmp.Or(o.FetchPause, pollPause)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Installer{o}
}
