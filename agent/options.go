package agent

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"slipway/agent/inventory"
	"slipway/installer"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// DefaultStateDir is where the agent keeps its state, on tmpfs: a boot empties it.
const DefaultStateDir = "/run/slipway-agent"

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupCNAME(ctx context.Context, host string) (string, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Neighbours asks on a link who answers for addresses; neighbours.Links does on a real
// machine. The result has an entry for each address of another station, with the MAC
// addresses, in lower case, of all stations that answer for it.
type Neighbours interface {
	Ask(ctx context.Context, nic string, source netip.Addr, addresses []netip.Addr) (map[netip.Addr][]string, error)
}

// DiskSpeed measures a disk, whose beginning it overwrites; diskspeed.Meter does on a real
// machine. SyncLatency is how long a small write takes to be on stable storage.
type DiskSpeed interface {
	SyncLatency(ctx context.Context, path string) (time.Duration, error)
}

// Leases asks a DHCP server for an address; dhcp.Client does on a real machine. The lease
// has the form of dhclient.leases(5), as the known one, which is empty at first.
type Leases interface {
	Lease(ctx context.Context, nic, hostname, known string) (lease string, address netip.Addr, err error)
}

// Platform is the machine an agent runs on: a real one or a simulated one.
type Platform struct {
	Root       hostexec.Root
	Runner     hostexec.Runner
	Links      inventory.Links
	Neighbours Neighbours
	DiskSpeed  DiskSpeed
	Leases     Leases
	BMC        inventory.BMC    // nil: the machine has none
	Health     inventory.Health // nil: no disk reports it
	Resolver   Resolver
	// Kube opens the API of the new cluster on a bootstrap host.
	Kube installer.OpenKube
	Now  func() time.Time
	// Sleep waits, or returns the error of ctx early; hostexec.Sleep when nil.
	Sleep func(ctx context.Context, d time.Duration) error
	// HTTP reaches other servers than the service: the cluster a host joins, images;
	// http.DefaultTransport when nil.
	HTTP http.RoundTripper
	// Free returns how many bytes are free in the file system of a path on the host; statfs does when nil.
	Free func(path string) (int64, error)
	// BootID names the boot; when nil /proc/sys/kernel/random/boot_id below the root does.
	BootID func() (string, error)
}

// Options configure an Agent.
type Options struct {
	// Client talks to the service; the host registers with its AgentVersion.
	Client     *client.Client
	Platform   Platform
	InfraEnvID uuid.UUID
	// HostID replaces the id made from the hardware when it is not zero.
	HostID uuid.UUID
	// StateDir is below the root; DefaultStateDir when empty.
	StateDir string
	// AgentSteps is model.FineSteps when empty. With model.InstallStep the agent behaves
	// like any v2 agent: it announces nothing and asks for no wait.
	AgentSteps model.AgentSteps
	// InContainer, when set, runs the step install: agents of other implementations start a container for it.
	InContainer func(ctx context.Context, req *wire.InstallCmdRequest, install func(context.Context, *wire.InstallCmdRequest) error) error
	// Reclaim makes the agent serve a host that runs its installed system, until it boots
	// the discovery image: it polls without registering.
	Reclaim bool
	// Wait is how long the service is asked to hold a poll; 30 s when zero.
	Wait time.Duration
	// Insecure and CACert (a path on the host) are handed on to the controller of the new cluster.
	Insecure bool
	CACert   string
	// Replace is how the agent becomes another version; the zero value: not at all.
	Replace Replace
	Log     *slog.Logger // slog.Default() when nil
}
