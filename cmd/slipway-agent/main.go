// Command slipway-agent registers the host it runs on and does what the service asks of it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"slipway/agent"
	"slipway/agent/bmc"
	"slipway/agent/dhcp"
	"slipway/agent/diskspeed"
	"slipway/agent/inventory"
	"slipway/agent/neighbours"
	"slipway/agent/smart"
	"slipway/installer"
	"slipway/installer/kubeapi"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/platform/idlememory"
	"slipway/internal/platform/programsig"
	"slipway/internal/platform/redact"
	"slipway/internal/version"
)

// options are the flags and variables of the command (docs/reference/agent-protocol.md,
// "Flags and variables").
type options struct {
	URL           string           `name:"url" required:"" help:"Root of the service: https://service.example.com:8090."`
	InfraEnvID    uuid.UUID        `name:"infra-env-id" required:"" help:"InfraEnv to register with."`
	HostID        uuid.UUID        `name:"host-id" help:"Id of the host, instead of the id made from its hardware."`
	AgentVersion  string           `name:"agent-version" default:"${agentVersion}" help:"Version to register with."`
	Insecure      bool             `help:"Do not verify the certificate of the service." negatable:""`
	CACert        string           `name:"cacert" type:"path" help:"File with the certificates (PEM) that signed the service's certificate."`
	StateDir      string           `default:"${stateDir}" help:"Folder for the state of this boot, below the root; on tmpfs."`
	Root          string           `default:"/" type:"path" help:"Where the file system of the host begins."`
	EnterHost     bool             `help:"Run commands in the namespaces of the host's first process; for agents in containers."`
	Reclaim       bool             `help:"Serve an installed host that returns to its InfraEnv: poll without registering."`
	AgentSteps    string           `name:"steps" aliases:"dialect" enum:"fine,install" default:"fine" help:"Steps to announce: fine or install."`
	Verbose       bool             `short:"v" help:"Log more."`
	PullSecretKey string           `name:"pull-secret-token" env:"PULL_SECRET_TOKEN" help:"Secret to register with; set it in the environment." hidden:""`
	ProgramKey    string           `name:"program-key" env:"SLIPWAY_PROGRAM_KEY" help:"Key that verifies the programs this agent may become, in base64."`
	Version       kong.VersionFlag `help:"Print the version."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("slipway-agent"), kong.Description("The agent of a host that is to be installed."),
		kong.Vars{"agentVersion": version.Number, "version": "slipway-agent " + version.Read().String(), "stateDir": agent.DefaultStateDir})
	level := slog.LevelInfo
	if o.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: redact.Attr}))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	saveMemory(ctx, log)
	err := start(ctx, o, log)
	stop()
	if err != nil {
		log.Error("agent ended", "error", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, o options, log *slog.Logger) error {
	transport, err := client.Transport(o.CACert, o.Insecure)
	if err != nil {
		return err
	}
	service := client.New(client.Options{
		BaseURL: o.URL, Token: model.Secret(o.PullSecretKey), HTTPClient: transport,
		UserAgent: "slipway-agent/" + version.Number, AgentVersion: o.AgentVersion,
	})
	key, err := programsig.ParsePublicKey(o.ProgramKey)
	if err != nil {
		return fmt.Errorf("read --program-key: %w", err)
	}
	runner := hostexec.Exec{}
	if o.EnterHost {
		runner.Enter = hostexec.HostNamespaces
	}
	return agent.New(agent.Options{
		Client: service, InfraEnvID: o.InfraEnvID, HostID: o.HostID, StateDir: o.StateDir, Reclaim: o.Reclaim,
		AgentSteps: model.AgentSteps(o.AgentSteps), Insecure: o.Insecure, CACert: o.CACert, Log: log, Replace: replace(key),
		Platform: agent.Platform{
			Root: hostexec.Root(o.Root), Runner: runner, Links: inventory.Netlink{}, Neighbours: neighbours.Links{},
			DiskSpeed: diskspeed.Meter{Root: hostexec.Root(o.Root), Now: time.Now}, Leases: dhcp.Client{Now: time.Now},
			BMC: bmc.Controller{Open: bmc.At(hostexec.Root(o.Root))}, Health: smart.Disks{Root: hostexec.Root(o.Root)},
			Resolver: &net.Resolver{PreferGo: true},
			Kube:     func(config []byte) (installer.Kube, error) { return kubeapi.Open(config) }, Now: time.Now,
		},
	}).Run(ctx)
}

const (
	// collectAt is how much the heap may grow before it is collected, in percent: what lives
	// is little, and a live image shares its memory with all that it installs.
	collectAt = 50
	// leanEvery is how often memory is given back. Between two of them a waiting agent
	// has polled once at most.
	leanEvery = 15 * time.Second
)

// saveMemory keeps the agent small while it waits, until ctx ends.
func saveMemory(ctx context.Context, log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	go idlememory.Keep(ctx, idlememory.Pace{Pages: leanEvery}, log)
}
