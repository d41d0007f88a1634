package cluster_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
	"slipway/test/bench/coreos"
	"slipway/test/bench/netlab"
	"slipway/test/bench/vm"
)

// How long a part of an installation may take on emulated machines before the bench
// gives up.
const (
	discoveryLimit    = 15 * time.Minute
	installationLimit = 90 * time.Minute
)

// bench is a cluster that is being installed.
type bench struct {
	shape    shape
	system   coreos.Artifacts
	site     *site
	gap      *gap // nil where the site has none
	release  release
	service  *service
	timeline *timeline
	machines []*machine
	id       uuid.UUID
	infraEnv uuid.UUID
}

func TestInstallation(t *testing.T) {
	s := wanted(t)
	faults := wantedFaults(t)
	system := needs(t)
	netlab.Sweep(t)
	b := newBench(t, s, system)
	b.define(t)
	b.boot(t, faults)
	b.discover(t)
	_, err := b.service.InstallCluster(t.Context(), b.id)
	require.NoError(t, err)
	b.timeline.say("installation ordered")
	done := b.injectAll(t, faults)
	b.timeline.until(t, "the installation", installationLimit, func(c *wire.Cluster) bool {
		require.NotEqual(t, wire.ClusterStatusCancelled, c.Status)
		return c.Status == wire.ClusterStatusInstalled
	})
	<-done
	b.prove(t)
}

// needs skips the test where something is missing that it is run with.
func needs(t *testing.T) coreos.Artifacts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: machines on a network of their own need root")
	}
	for _, command := range []string{"qemu-system-x86_64", "dnsmasq", "ip", "unshare"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("SKIP: this test needs %s (deploy/bench-packages)", command)
		}
	}
	if _, err := os.Stat(*program); err != nil {
		t.Skip("SKIP: this test needs bin/slipway (make build)")
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	system, err := coreos.Find(coreos.Dir(cache))
	if err != nil {
		t.Skip("SKIP: the bench's system is not built, or its scripts have changed since (make bench-vm)")
	}
	return system
}

func newBench(t *testing.T, s shape, system coreos.Artifacts) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", netlab.Mine(""))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	b := &bench{shape: s, system: system, timeline: newTimeline()}
	t.Cleanup(func() { b.clear(t, dir) })
	b.site = newSite(t, dir, s)
	if *route == "mirror" {
		b.gap = newGap(t, b.site)
	}
	b.release = newRelease(t, b.site, b.gap)
	b.service = newService(t, b.site, b.gap, b.release, system)
	return b
}

// clear removes the files of the bench, unless they tell why it failed.
func (b *bench) clear(t *testing.T, dir string) {
	t.Helper()
	fmt.Print(b.timeline.report(b.machines))
	if !t.Failed() {
		_ = os.RemoveAll(dir)
		return
	}
	for _, m := range b.machines {
		t.Log(m.lastLines())
		_ = os.Remove(m.options.Disk)
		_ = os.Remove(m.options.Image)
	}
	kept := filepath.Join(os.TempDir(), "slipway-cluster-failed") // not swept
	_ = os.RemoveAll(kept)
	t.Logf("the logs of the service and the consoles of the machines are kept in %s: %v", kept, os.Rename(dir, kept))
}

// define defines in the service what to install.
func (b *bench) define(t *testing.T) {
	t.Helper()
	base, masters, ntp := baseDomain, b.shape.masters, gateway
	params := wire.ClusterCreateParams{
		Name: name, OpenshiftVersion: version, PullSecret: b.release.pullSecret(t), BaseDNSDomain: &base, ControlPlaneCount: &masters,
		AdditionalNtpSource: &ntp,
	}
	if b.shape.singleNode() {
		userManaged := true
		params.UserManagedNetworking = &userManaged
	}
	if b.gap != nil {
		proxy := b.gap.proxy()
		params.HTTPProxy, params.HTTPSProxy, params.NoProxy = &proxy.HTTPProxy, &proxy.HTTPSProxy, &proxy.NoProxy
	}
	made, err := b.service.RegisterCluster(t.Context(), params)
	require.NoError(t, err)
	b.id = made.ID
	full, release := wire.ImageTypeFullIso, version
	env := wire.InfraEnvCreateParams{
		Name: name, PullSecret: b.release.pullSecret(t), ClusterID: &b.id, ImageType: &full, OpenshiftVersion: &release,
		AdditionalNtpSources: &ntp,
	}
	if b.gap != nil {
		proxy := b.gap.proxy()
		env.Proxy = &proxy
	}
	if *network == "static" {
		env.StaticNetworkConfig = staticNetwork(b.shape.hosts())
	}
	found, err := b.service.RegisterInfraEnv(t.Context(), env)
	require.NoError(t, err)
	b.infraEnv = found.ID
	watching, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(stop)
	go b.timeline.watch(watching, b.service.Client, b.id)
}

// boot switches all machines on with the discovery image.
func (b *bench) boot(t *testing.T, faults []fault) {
	t.Helper()
	env, err := b.service.InfraEnv(t.Context(), b.infraEnv)
	require.NoError(t, err)
	image := filepath.Join(b.site.dir, "discovery.iso")
	b.service.download(t, env.DownloadURL, image)
	for _, h := range b.shape.hosts() {
		m := plug(t, b.site, b.shape, h, image)
		b.machines = append(b.machines, m)
	}
	for _, f := range faults {
		if f.before != nil {
			f.before(t, b)
		}
	}
	b.timeline.say("%d machines switched on", len(b.machines))
	for _, m := range b.machines {
		m.on(t)
	}
}

// discover waits for the machines and gives the service what it must know of them.
func (b *bench) discover(t *testing.T) {
	t.Helper()
	found := b.timeline.until(t, "all machines to be discovered", discoveryLimit, func(c *wire.Cluster) bool {
		return len(c.Hosts) == len(b.machines) && !slices.ContainsFunc(c.Hosts, func(h wire.Host) bool { return h.Inventory == "" })
	})
	for i := range found.Hosts {
		h := &found.Hosts[i]
		m := b.machine(t, h)
		role := wire.HostUpdateParamsHostRoleWorker
		if m.master {
			role = wire.HostUpdateParamsHostRoleMaster
		}
		changes := wire.HostUpdateParams{HostRole: &role}
		if *network == "static" { // nothing else gives it a name
			changes.HostName = &m.name
		}
		_, err := b.service.UpdateHost(t.Context(), b.infraEnv, h.ID, changes)
		require.NoError(t, err)
	}
	if !b.shape.singleNode() {
		_, err := b.service.UpdateCluster(t.Context(), b.id, wire.V2ClusterUpdateParams{
			APIVips: &[]wire.APIVip{{IP: apiVIP}}, IngressVips: &[]wire.IngressVip{{IP: ingressVIP}},
		})
		require.NoError(t, err)
	} else {
		_, err := b.service.UpdateCluster(t.Context(), b.id, wire.V2ClusterUpdateParams{
			MachineNetworks: &[]wire.MachineNetwork{{Cidr: "10.88.0.0/24"}},
		})
		require.NoError(t, err)
	}
	b.timeline.until(
		t,
		"the cluster to be ready",
		discoveryLimit,
		func(c *wire.Cluster) bool { return c.Status == wire.ClusterStatusReady },
	)
}

// machine returns the machine of a host.
func (b *bench) machine(t *testing.T, h *wire.Host) *machine {
	t.Helper()
	at := slices.IndexFunc(b.machines, func(m *machine) bool { return m.is(h) })
	require.GreaterOrEqual(t, at, 0, "no machine has the id of %s", view.HostName(h))
	return b.machines[at]
}

// hostOf returns the host of a machine; nil where the service knows none.
func hostOf(c *wire.Cluster, m *machine) *wire.Host {
	for i := range c.Hosts {
		if m.is(&c.Hosts[i]) {
			return &c.Hosts[i]
		}
	}
	return nil
}

// staticNetwork gives each machine its address where nothing else does.
func staticNetwork(hosts []hostPlan) *[]wire.HostStaticNetworkConfig {
	var all []wire.HostStaticNetworkConfig
	for _, h := range hosts {
		config := wire.HostStaticNetworkConfig{NetworkYaml: fmt.Sprintf(`
interfaces:
  - name: eth0
    type: ethernet
    state: up
    ipv4:
      enabled: true
      dhcp: false
      address: [{ip: %s, prefix-length: 24}]
    ipv6: {enabled: false}
dns-resolver: {config: {server: [%s]}}
routes:
  config:
    - {destination: 0.0.0.0/0, next-hop-address: %[2]s, next-hop-interface: eth0}
`, h.address, gateway)}
		config.MacInterfaceMap = append(config.MacInterfaceMap, struct {
			LogicalNicName string `json:"logical_nic_name,omitempty,omitzero"`
			MacAddress     string `json:"mac_address"`
		}{"eth0", vm.MAC(h.number)})
		all = append(all, config)
	}
	return &all
}
