package duesteps

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/steps"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// ErrSkip says that a step does not apply to the host as it is; record it as Skipped.
var ErrSkip = errors.New("step does not apply")

// Images are the container images an installation works with, as pull specifications.
type Images struct {
	Installer, Release, MCO string
	// Controller contains the controller; empty where Slipway agents run its program in CLI.
	Controller string
	CLI        string
	// MustGather lists images by operator; the platform's image has the key "ocp".
	MustGather map[string]string
	CoreOS     string // the operating system of the release, for hosts that run from a disk
	Agent      string // only to upgrade agents to
}

// BootArtifacts are where a reclaimed host gets the discovery image from.
type BootArtifacts struct{ KernelURL, InitrdURL, RootfsURL string }

// ArgsInput is the input of step arguments.
type ArgsInput struct {
	Host     *model.Host
	Cluster  *model.Cluster // nil while unbound
	InfraEnv *model.InfraEnv
	Hosts    []*model.Host // of the cluster
	// Remotes is the list for connectivity checks, made once for all hosts; made from
	// Hosts when nil.
	Remotes *Remotes
	Images  Images
	// DiskCheck and ImageAvailability are the time-outs given to the host.
	DiskCheck, ImageAvailability time.Duration
	// CheckClusterVersion asks to wait for the cluster version operator.
	CheckClusterVersion bool
	// KeepMCOReboot lets the machine config be applied after the first boot, with another one.
	KeepMCOReboot bool
	// ServiceIPs are addresses of this service for hosts without DNS.
	ServiceIPs    []string
	BootArtifacts BootArtifacts
	// ControllerPrograms are the programs of the controller, by architecture.
	ControllerPrograms map[string]wire.AgentProgram
	// ControllerToken is the controller's credential; empty: the agent's token.
	ControllerToken model.Secret
	// AgentUpgrade describes the version a Slipway agent must become; nil for agents of other implementations.
	AgentUpgrade *wire.AgentUpgrade
	// MaxInventoryBytes and MinDiskBytes limit the inventory; zero sets no limit.
	MaxInventoryBytes, MinDiskBytes int64
}

// builders makes the arguments of the steps that have their own; the steps of an installation share one.
var builders = map[wire.StepType]func(*ArgsInput) ([]string, error){
	wire.StepTypeInventory:                  inventoryArgs,
	wire.StepTypeConnectivityCheck:          connectivityArgs,
	wire.StepTypeFreeNetworkAddresses:       freeAddressArgs,
	wire.StepTypeNtpSynchronizer:            ntpArgs,
	wire.StepTypeDomainResolution:           domainArgs,
	wire.StepTypeVerifyVips:                 vipArgs,
	wire.StepTypeTangConnectivityCheck:      tangArgs,
	wire.StepTypeAPIVipConnectivityCheck:    apiVIPArgs,
	wire.StepTypeDhcpLeaseAllocate:          leaseArgs,
	wire.StepTypeInstallationDiskSpeedCheck: diskSpeedArgs,
	wire.StepTypeContainerImageAvailability: imageArgs,
	wire.StepTypeLogsGather:                 logsArgs,
	wire.StepTypeUpgradeAgent:               upgradeArgs,
	wire.StepTypeDownloadBootArtifacts:      artifactArgs,
	wire.StepTypeRebootForReclaim:           reclaimArgs,
	wire.StepTypeNextStepRunner:             runnerArgs,
}

func builderOf(step wire.StepType) func(*ArgsInput) ([]string, error) {
	row, _ := steps.Of(step)
	switch row.Argument {
	case steps.ArgumentInstall:
		return installArgs
	case steps.ArgumentNone:
		return noArgs
	case steps.ArgumentOwn:
	}
	return builders[step]
}

// Args makes the arguments of a step. ErrSkip means the step does not apply to the
// host; other errors name what is missing.
func Args(step wire.StepType, in ArgsInput) ([]string, error) {
	build := builderOf(step)
	if build == nil {
		return nil, fmt.Errorf("make arguments of step %q: %w", step, model.Invalidf("no such step"))
	}
	args, err := build(&in)
	if err != nil && !errors.Is(err, ErrSkip) {
		return nil, fmt.Errorf("make arguments of step %s: %w", step, err)
	}
	return args, err
}

// StepID makes the id of a step: the type and eight hex digits that distinguish it from other steps of the type.
func StepID(step wire.StepType, random uint32) string { return fmt.Sprintf("%s-%08x", step, random) }

// one makes the list of a single argument in JSON.
func one(v any) ([]string, error) {
	out, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []string{string(out)}, nil
}

func noArgs(*ArgsInput) ([]string, error) { return []string{}, nil }

func inventoryArgs(in *ArgsInput) ([]string, error) {
	args := []string{in.Host.ID.String()}
	if in.MaxInventoryBytes > 0 {
		args = append(args, "--output-max-size="+strconv.FormatInt(in.MaxInventoryBytes, 10))
	}
	if in.MinDiskBytes > 0 {
		args = append(args, "--disk-min-size="+strconv.FormatInt(in.MinDiskBytes, 10))
	}
	return args, nil
}

// smallestScanned is the shortest prefix of a network that is scanned: a /22 has 1,022 hosts.
const smallestScanned = 22

func freeAddressArgs(in *ArgsInput) ([]string, error) {
	var networks []string
	seen := map[netip.Prefix]bool{}
	for _, nic := range hardware.NICs(in.Host.Inventory) {
		for _, a := range nic.Addresses {
			n := a.Masked()
			if n.Addr().Is4() && n.Bits() >= smallestScanned && !seen[n] {
				seen[n] = true
				networks = append(networks, n.String())
			}
		}
	}
	if len(networks) == 0 {
		return nil, ErrSkip
	}
	return one(networks)
}

func ntpArgs(in *ArgsInput) ([]string, error) {
	var sources []string
	if in.InfraEnv != nil {
		sources = in.InfraEnv.NTPSources
	}
	if in.Cluster != nil && len(in.Cluster.NTPSources) > 0 {
		sources = in.Cluster.NTPSources
	}
	return one(wire.NtpSynchronizationRequest{NtpSource: strings.Join(sources, ",")})
}

func domainArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	names := validation.ClusterDomains(in.Cluster)
	if names == nil {
		return nil, ErrSkip
	}
	if host := registryHost(in.Cluster.ReleaseImage); host != "" && !in.Host.DayTwo() {
		names = append(names, host)
	}
	request := wire.DomainResolutionRequest{}
	for _, n := range names {
		request.Domains = append(request.Domains, map[string]any{"domain_name": n})
	}
	return one(request)
}

// registryHost returns the host name of a pull specification, without its port.
func registryHost(image string) string {
	host, _, found := strings.Cut(image, "/")
	if !found {
		return ""
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return "" // nothing to resolve
	}
	return host
}

func vipArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	var request wire.VerifyVipsRequest
	for _, v := range in.Cluster.APIVIPs {
		request = append(request, wire.VerifyVip{Vip: v.IP.String(), VipType: wire.API})
	}
	for _, v := range in.Cluster.IngressVIPs {
		request = append(request, wire.VerifyVip{Vip: v.IP.String(), VipType: wire.Ingress})
	}
	if len(request) == 0 {
		return nil, ErrSkip
	}
	return one(request)
}

func tangArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	servers := validation.TangServers(in.Cluster, in.Host)
	if servers == "" {
		return nil, ErrSkip
	}
	return one(wire.TangConnectivityRequest{TangServers: servers})
}

func upgradeArgs(in *ArgsInput) ([]string, error) {
	if in.AgentUpgrade != nil {
		return one(in.AgentUpgrade)
	}
	if in.Images.Agent == "" {
		return nil, ErrSkip
	}
	return one(wire.UpgradeAgentRequest{AgentImage: in.Images.Agent})
}

// hostMount is where foreign agents see the root of their host.
const hostMount = "/host"

func artifactArgs(in *ArgsInput) ([]string, error) {
	b := in.BootArtifacts
	if b.KernelURL == "" || b.InitrdURL == "" || b.RootfsURL == "" {
		return nil, fmt.Errorf("require kernel, initrd and rootfs addresses, found %+v", b)
	}
	return one(wire.DownloadBootArtifactsRequest{
		KernelURL: b.KernelURL, InitrdURL: b.InitrdURL, RootfsURL: b.RootfsURL, HostFsMountDir: hostMount,
	})
}

func reclaimArgs(*ArgsInput) ([]string, error) {
	return one(wire.RebootForReclaimRequest{HostFsMountDir: hostMount})
}

func runnerArgs(in *ArgsInput) ([]string, error) {
	return one(map[string]string{
		"infra_env_id":  in.Host.InfraEnvID.String(),
		"host_id":       in.Host.ID.String(),
		"agent_version": in.Host.DiscoveryAgentVersion,
	})
}
