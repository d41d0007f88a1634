package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/cluster/openshift"
	"slipway/internal/platform/store"
	"slipway/internal/sim/payload"
	"slipway/internal/sim/site"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

const release = "4.20.5"

// perInfraEnv is the setting for agents of other implementations, which know only the token of their image.
const perInfraEnv = "AGENT_TOKENS=infra-env"

// temporalPorts is how many consecutive ports the Temporal server of a service listens on.
const temporalPorts = 4

// fleet is a service, a cluster of simulated machines and all that belongs to it, each
// part a process of its own.
type fleet struct {
	name       string // of the cluster
	prefix     string // of the names of its machines
	dir        string
	dataDir    string
	url        string
	program    string
	demo       string
	ignition   string // file with the config of the discovery image
	pullSecret string
	auth       string // what is secret in it
	registry   *payload.Payload
	client     *client.Client
	store      *store.Store

	service    *part
	cluster    *part
	controller *part
	machines   map[string]*part
	id         uuid.UUID
}

// shape of the cluster that a test installs.
type shape struct {
	masters, workers int
	speed            float64
	agentSteps       string
	flags            map[string][]string // of single machines, by name
}

// newFleet starts a service; env is added to its environment.
func newFleet(t *testing.T, env ...string) *fleet {
	t.Helper()
	f := releases(t)
	f.startService(t, env)
	return f
}

// releases returns a fleet that has releases, and no service yet.
func releases(t *testing.T) *fleet {
	t.Helper()
	return releasesOf(t, built.Binary(t), built.Demo(t))
}

// releasesOf returns a fleet with other programs than were built here.
func releasesOf(t *testing.T, program, demo string) *fleet {
	t.Helper()
	recorder(t)
	dir := built.Folder(t, "e2e")
	f := &fleet{name: "e2e", dir: dir, dataDir: filepath.Join(dir, "service"), program: program, demo: demo, machines: map[string]*part{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lastLines(dir))
		}
	})
	var err error
	f.registry, err = payload.Serve(t.Context(), payload.Options{
		Versions: []string{release}, Architecture: runtime.GOARCH, InstallerCommand: []string{demo, "installer"},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.registry.Close() })
	f.auth = base64.StdEncoding.EncodeToString([]byte("e2e:the-pull-secret-of-this-test"))
	f.pullSecret = fmt.Sprintf(`{"auths":{%q:{"auth":%q},"cloud.openshift.com":{"auth":%[2]q}}}`, f.registry.Address(), f.auth)
	return f
}

// beside returns another cluster of the same service, on a site of its own.
func (f *fleet) beside(t *testing.T, name string) *fleet {
	t.Helper()
	other := *f
	other.name, other.prefix, other.dir, other.machines = name, name+"-", filepath.Join(f.dir, name), map[string]*part{}
	require.NoError(t, os.Mkdir(other.dir, 0o755))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lastLines(other.dir))
		}
	})
	return &other
}

func (f *fleet) startService(t *testing.T, env []string) {
	t.Helper()
	address := built.FreeAddress(t)
	ports := strconv.Itoa(built.FreePorts(t, temporalPorts))
	f.url = "https://" + address
	heartbeat := "20s"
	for _, variable := range env {
		if given, found := strings.CutPrefix(variable, "SLIPWAY_HEARTBEAT="); found {
			heartbeat = given
		}
	}
	f.service = &part{
		name: "service", log: filepath.Join(f.dir, "service.log"), env: append(env, f.offers(t)),
		args: []string{
			"up", "--data-dir", f.dataDir, "--listen", address, "--temporal-port", ports,
			"--insecure-registry", f.registry.Address(), "--installer-user", "0", "--installer-paths", f.demo, "--heartbeat", heartbeat,
		},
	}
	f.service.run(t, f.program)
	built.WaitReady(t, f.url)
	f.client = built.Administrator(t, f.dataDir)
	f.openStore(t, f.databaseURL())
}

// offers returns the setting of the releases that the service offers.
func (f *fleet) offers(t *testing.T) string {
	t.Helper()
	list, err := json.Marshal([]openshift.Release{{
		Version: release, DisplayName: release, CPUArchitectures: []string{"x86_64", "arm64"}, SupportLevel: "production", Default: true,
		Image: f.registry.ReleaseImage(release),
	}})
	require.NoError(t, err)
	return "RELEASE_IMAGES=" + string(list)
}

// databaseURL reaches the bundled database through its socket.
func (f *fleet) databaseURL() string {
	query := url.Values{"host": {filepath.Join(f.dataDir, "run")}, "port": {"5432"}, "user": {"slipway"}, "sslmode": {"disable"}}
	return "postgres:///slipway?" + query.Encode()
}

// define makes the cluster in the service and starts its machines.
func (f *fleet) define(t *testing.T, s shape) {
	t.Helper()
	ctx := t.Context()
	domain := "example.com"
	cluster, err := f.client.RegisterCluster(ctx, wire.ClusterCreateParams{
		Name: f.name, OpenshiftVersion: release, PullSecret: f.pullSecret, BaseDNSDomain: &domain, ControlPlaneCount: &s.masters,
	})
	require.NoError(t, err)
	f.id = cluster.ID
	env, err := f.client.RegisterInfraEnv(ctx, wire.InfraEnvCreateParams{
		Name: f.name + "_infra-env", PullSecret: f.pullSecret, ClusterID: &f.id,
	})
	require.NoError(t, err)
	config, err := f.client.DiscoveryIgnition(ctx, env.ID)
	require.NoError(t, err)
	f.ignition = filepath.Join(f.dir, "discovery.ign")
	require.NoError(t, os.WriteFile(f.ignition, config, 0o600))
	place, err := site.Open(filepath.Join(f.dir, "site"))
	require.NoError(t, err)
	require.NoError(t, place.SetCluster(site.Cluster{Name: f.name, Domain: domain, ControlPlane: s.masters, Version: release}))
	f.startCluster(t, s, domain)
	for i := range s.masters {
		f.startMachine(t, s, fmt.Sprintf("%smaster-%d", f.prefix, i), 20+i)
	}
	for i := range s.workers {
		f.startMachine(t, s, fmt.Sprintf("%sworker-%d", f.prefix, i), 120+i)
	}
}

func (f *fleet) startCluster(t *testing.T, s shape, domain string) {
	t.Helper()
	speed := fmt.Sprint(s.speed)
	place := filepath.Join(f.dir, "site")
	f.cluster = &part{name: "cluster", log: filepath.Join(f.dir, "cluster.log"), args: []string{
		"cluster", "--root", filepath.Join(f.dir, "cluster"), "--site", place, "--speed", speed,
		"--name", f.name, "--domain", domain, "--control-plane", fmt.Sprint(s.masters), "--version", release,
	}}
	f.cluster.run(t, f.demo)
	f.controller = &part{name: "controller", log: filepath.Join(f.dir, "controller.log"), args: []string{
		"controller", "--root", filepath.Join(f.dir, "controller"), "--site", place, "--speed", speed,
		"--ignition", f.ignition, "--cluster-id", f.id.String(),
	}}
	f.controller.run(t, f.demo)
}

func (f *fleet) startMachine(t *testing.T, s shape, name string, last int) {
	t.Helper()
	kind := map[bool]string{true: "worker", false: "master"}[strings.HasPrefix(name, f.prefix+"worker")]
	if s.masters == 1 {
		kind = "single-node"
	}
	agentSteps := s.agentSteps
	if agentSteps == "" {
		agentSteps = "fine"
	}
	address := netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, 111, byte(last)}), 24)
	p := &part{name: name, log: filepath.Join(f.dir, name+".log"), args: append([]string{
		"machine", "--root", f.machineDir(name), "--site", filepath.Join(f.dir, "site"), "--speed", fmt.Sprint(s.speed),
		"--ignition", f.ignition, "--steps", agentSteps,
		"--name", name, "--shape", kind, "--address", address.String(),
	}, s.flags[name]...)}
	f.machines[name] = p
	p.run(t, f.demo)
}

func (f *fleet) machineDir(name string) string { return filepath.Join(f.dir, "machines", name) }

// discover waits until the cluster is ready to be installed.
func (f *fleet) discover(t *testing.T, s shape) {
	t.Helper()
	f.await(t, "all hosts to have a role", func(c *wire.Cluster) bool {
		n := 0
		for i := range c.Hosts {
			if c.Hosts[i].SuggestedRole != "" {
				n++
			}
		}
		return n == s.masters+s.workers
	})
	f.giveRoles(t)
	if s.masters > 1 {
		_, err := f.client.UpdateCluster(t.Context(), f.id, wire.V2ClusterUpdateParams{
			APIVips: &[]wire.APIVip{{IP: "192.168.111.5"}}, IngressVips: &[]wire.IngressVip{{IP: "192.168.111.6"}},
		})
		require.NoError(t, err)
	}
	f.awaitStatus(t, wire.ClusterStatusReady)
}

// giveRoles gives hosts the roles that they are named by, where the service suggests others: masters are the hosts that come first.
func (f *fleet) giveRoles(t *testing.T) {
	t.Helper()
	hosts, err := f.client.ClusterHosts(t.Context(), f.id, "")
	require.NoError(t, err)
	named := func(h *wire.Host) wire.HostRole {
		if strings.HasPrefix(h.RequestedHostname, f.prefix+"worker") {
			return wire.HostRoleWorker
		}
		return wire.HostRoleMaster
	}
	if !slices.ContainsFunc(hosts, func(h wire.Host) bool { return h.SuggestedRole != named(&h) }) {
		return
	}
	for i := range hosts {
		role := wire.HostUpdateParamsHostRole(named(&hosts[i]))
		_, err := f.client.UpdateHost(t.Context(), hosts[i].InfraEnvID, hosts[i].ID, wire.HostUpdateParams{HostRole: &role})
		require.NoError(t, err)
	}
}

// install gives the command; it is tried again while the service is away.
func (f *fleet) install(t *testing.T) {
	t.Helper()
	_, err := f.client.InstallCluster(t.Context(), f.id)
	require.NoError(t, err)
}

// await looks at the cluster until something holds; the service may be away meanwhile.
func (f *fleet) await(t *testing.T, what string, holds func(*wire.Cluster) bool) {
	t.Helper()
	var last *wire.Cluster
	for watch := await.Begin(t); !watch.Over(); {
		if c, err := f.client.Cluster(t.Context(), f.id); err == nil {
			if last = c; holds(c) {
				return
			}
			watch.Progress(progressOf(c))
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Fail(t, "waited too long for "+what, describe(last))
}

func (f *fleet) awaitStatus(t *testing.T, status wire.ClusterStatus) {
	t.Helper()
	f.await(t, "status "+string(status), func(c *wire.Cluster) bool { return c.Status == status })
}

// progressOf changes with whatever of an installation progresses.
func progressOf(c *wire.Cluster) string {
	text := fmt.Sprint(c.Status, c.Progress.TotalPercentage)
	for i := range c.Hosts {
		h := &c.Hosts[i]
		text += fmt.Sprint(h.Status, h.Progress.CurrentStage, h.Progress.InstallationPercentage)
	}
	return text
}

func describe(c *wire.Cluster) string {
	if c == nil {
		return "the service never answered"
	}
	text := fmt.Sprintf("cluster is %s (%s)\n%s\n", c.Status, c.StatusInfo, c.ValidationsInfo)
	for i := range c.Hosts {
		h := &c.Hosts[i]
		text += fmt.Sprintf("  %s %s: %s (%s), stage %q\n", h.RequestedHostname, h.Role, h.Status, h.StatusInfo, h.Progress.CurrentStage)
	}
	return text
}

// host finds a host of the cluster by name.
func (f *fleet) host(t *testing.T, name string) *wire.Host {
	t.Helper()
	c, err := f.client.Cluster(t.Context(), f.id, client.WithRetry(await.Limit(t)))
	require.NoError(t, err)
	for i := range c.Hosts {
		if c.Hosts[i].RequestedHostname == name {
			return &c.Hosts[i]
		}
	}
	require.Fail(t, "no host "+name)
	return nil
}
