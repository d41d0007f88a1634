package installer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
)

// Node is a control plane node of the new cluster, an arbiter included.
type Node struct {
	Name      string
	Addresses []netip.Addr // internal ones
	Ready     bool
	// Uninitialized nodes wait for the controller of a cloud, and run few pods until then.
	Uninitialized bool
	MachineConfig MachineConfig
}

// MachineConfig holds the reports of a node's machine config daemon in annotations of the node.
type MachineConfig struct {
	Current, Desired string // names of rendered configs
	State            string // Done, Working, Degraded...
}

// Consistent reports whether the node has the config it should have.
func (m MachineConfig) Consistent() bool {
	return m.Current != "" && m.Current == m.Desired && m.State == machineConfigDone
}

// Pool returns the pool of the desired config: its name without the hash at its end. Control plane and arbiters have one each.
func (m MachineConfig) Pool() string {
	if end := strings.LastIndexByte(m.Desired, '-'); end >= 0 {
		return m.Desired[:end]
	}
	return ""
}

// String says how far the node is, for users.
func (m MachineConfig) String() string {
	if m == (MachineConfig{}) {
		return "none reported"
	}
	return fmt.Sprintf("current config %q, desired config %q, state %q", m.Current, m.Desired, m.State)
}

const machineConfigDone = "Done"

// Kube is the part of the new cluster's API that the installer needs.
type Kube interface {
	// Masters lists the control plane nodes, arbiters included.
	Masters(ctx context.Context) ([]Node, error)
	// EventExists reports whether an Event of that name is in the namespace.
	EventExists(ctx context.Context, namespace, name string) (bool, error)
	// MachineConfigExists reports whether the cluster has a MachineConfig of that name.
	MachineConfigExists(ctx context.Context, name string) (bool, error)
	// Initialize takes the mark of an uninitialized node off, as the controller of a cloud does.
	Initialize(ctx context.Context, node string) error
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
	// into the logs: commands that ask a disk which does not answer hang. Five minutes and one
	// when zero.
	CleanLimit, LogLimit time.Duration
	// FetchPause is the time between two looks at which hosts fetched their Ignition, while the API of the new
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
