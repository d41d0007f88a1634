package sim_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/sim"
	"slipway/internal/sim/hardware"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// place is a service, a site and the machines in it.
type place struct {
	*service
	site *site.Site
	dir  string
	ctx  context.Context
}

func newPlace(t *testing.T, controlPlane int) *place {
	t.Helper()
	dir := t.TempDir()
	s, err := site.Open(filepath.Join(dir, "site"))
	require.NoError(t, err)
	require.NoError(t, s.SetCluster(site.Cluster{Name: "test", Domain: "example.com", ControlPlane: controlPlane, Version: "4.20.1"}))
	return &place{service: newService(t, controlPlane), site: s, dir: dir, ctx: await.Context(t)}
}

func (p *place) options(name, address string, faults sim.Faults) sim.MachineOptions {
	return sim.MachineOptions{
		Spec: hardware.New(name, hardware.SingleNode, netip.MustParsePrefix(address+"/24"), netip.MustParseAddr("192.0.2.1")),
		Root: filepath.Join(p.dir, name), Site: p.site, ServiceURL: p.server.URL, InfraEnvID: p.infraEnvID, AgentVersion: "agent:1",
		Faults: faults, Log: slog.New(slog.DiscardHandler),
	}
}

// start runs a machine until the returned function is called or the test ends.
func (p *place) start(t *testing.T, o sim.MachineOptions) (*sim.Machine, func()) {
	t.Helper()
	machine, err := sim.NewMachine(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan error, 1)
	go func() { done <- machine.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return machine, stop
}

// count returns how often an event is in a machine's log.
func count(t *testing.T, dir string, event sim.Event) int {
	t.Helper()
	entries, err := sim.ReadLog(dir)
	require.NoError(t, err)
	n := 0
	for _, e := range entries {
		if e.Event == event {
			n++
		}
	}
	return n
}

// seen waits until something is in a machine's log so many times.
func (p *place) seen(t *testing.T, dir string, event sim.Event, times int) {
	t.Helper()
	await.True(t, func() bool { return count(t, dir, event) >= times }, "%s in %s", event, dir)
}

func TestMachineShowsItsHardware(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.20", sim.Faults{})
	p.start(t, o)
	host := p.host(p.ctx, t)

	reply := p.result(p.ctx, t, p.command(host, wire.StepTypeInventory, host.String()))
	require.Zero(t, reply.ExitCode, reply.Error)
	var inventory wire.Inventory
	require.NoError(t, json.Unmarshal([]byte(reply.Output), &inventory))
	require.Equal(t, "sno", inventory.Hostname)
	require.EqualValues(t, 8, inventory.CPU.Count)
	require.EqualValues(t, 32<<30, inventory.Memory.PhysicalBytes)
	require.Len(t, inventory.Disks, 2)
	require.True(t, inventory.Disks[0].InstallationEligibility.Eligible, inventory.Disks[0].InstallationEligibility.NotEligibleReasons)
	require.Equal(t, wire.DriveTypeSSD, inventory.Disks[0].DriveType)
	require.EqualValues(t, 240e9, inventory.Disks[0].SizeBytes)
	require.Len(t, inventory.Interfaces, 1)
	require.Equal(t, []string{"192.0.2.20/24"}, inventory.Interfaces[0].Ipv4Addresses)
	require.Equal(t, o.Spec.Serial, inventory.SystemVendor.SerialNumber)
	require.NotEmpty(t, inventory.Routes)
	require.Equal(t, wire.Ephemeral, inventory.Boot.DeviceType, "a live image")
}

func TestMachineAnswersTheChecksOfDiscovery(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	p.start(t, p.options("one", "192.0.2.21", sim.Faults{SlowDisk: true}))
	one := p.host(p.ctx, t)
	second := p.options("two", "192.0.2.22", sim.Faults{})
	p.start(t, second)
	two := p.host(p.ctx, t, one)

	for _, c := range []struct {
		name string
		step wire.StepType
		args []string
		want string
	}{
		{
			"another machine answers", wire.StepTypeConnectivityCheck,
			[]string{
				`[{"host_id":"` + two.String() + `","nics":[{"name":"eno1","mac":"` + second.Spec.NICs[0].MAC + `","ip_addresses":["192.0.2.22"]}]}]`,
			},
			`"average_rtt_ms":0.4,"remote_ip_address":"192.0.2.22","successful":true`,
		},
		{"an unused address is free", wire.StepTypeVerifyVips, []string{`[{"vip":"192.0.2.100","vip_type":"api"}]`}, `"succeeded"`},
		{"an address of a machine is not free", wire.StepTypeVerifyVips, []string{`[{"vip":"192.0.2.22","vip_type":"api"}]`}, `"failed"`},
		{"the clock is in step", wire.StepTypeNtpSynchronizer, []string{`{"ntp_source":""}`}, `"synced"`},
		{
			"an unknown name does not resolve", wire.StepTypeDomainResolution,
			[]string{`{"domains":[{"domain_name":"api.test.example.com"}]}`},
			`"domain_name":"api.test.example.com"`,
		},
		{
			"an image is pulled", wire.StepTypeContainerImageAvailability,
			[]string{`{"images":["quay.io/x@sha256:1"],"timeout":60}`},
			`"success"`,
		},
		{"a slow disk is slow", wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/dev/sda"}`, "60"}, `"io_sync_duration":38`},
	} {
		reply := p.result(p.ctx, t, p.command(one, c.step, c.args...))
		require.Zero(t, reply.ExitCode, "%s: %s", c.name, reply.Error)
		require.Contains(t, reply.Output, c.want, c.name)
	}
}

func TestSingleNodeBecomesANodeOfItsCluster(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.20", sim.Faults{})
	machine, _ := p.start(t, o)
	p.startCluster(t)
	host := p.host(p.ctx, t)
	p.installSingleNode(t, host)
	p.seen(t, o.Root, sim.EventNodeReady, 1)
	require.Equal(t, sim.FromDisk, machine.State().From)
	require.Equal(t, 1, count(t, o.Root, sim.EventWriteFinished))
	require.Equal(t, 1, count(t, o.Root, sim.EventIgnition))
	require.Equal(t, 3, count(t, o.Root, sim.EventPoweredOn), "the first boot from the disk is followed by another")
	require.Equal(t, 1, p.registered(host), "a machine that left the live image does not register")
	content, err := sim.ReadDisk(o.Root, "sda")
	require.NoError(t, err)
	require.Contains(t, string(content.Ignition), "node-"+host.String()[:8])
}

// bootkube creates each manifest by itself, and ends without the refused ones after an hour (openshift/library-go, pkg/assets/create;
// openshift/cluster-bootstrap, pkg/start/start.go). The API takes no objects of a namespace without one.
func TestManifestThatTheAPIRefusesStopsNoOther(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	p.bootstrap = strings.Replace(bootstrapIgnition, `"files":[`, `"files":[`+
		`{"path":"/opt/openshift/openshift/a.yaml","mode":420,"contents":{"source":"data:,`+
		`%7BapiVersion%3A%20v1%2C%20kind%3A%20ConfigMap%2C%20metadata%3A%20%7Bname%3A%20a%7D%7D"}},`+
		`{"path":"/opt/openshift/openshift/b.yaml","mode":420,"contents":{"source":"data:,`+
		`%7BapiVersion%3A%20v1%2C%20kind%3A%20ConfigMap%2C%20metadata%3A%20%7Bname%3A%20b%2C%20namespace%3A%20default%7D%7D"}},`, 1)
	o := p.options("sno", "192.0.2.24", sim.Faults{})
	p.start(t, o)
	p.startCluster(t)
	p.installSingleNode(t, p.host(p.ctx, t))
	p.seen(t, o.Root, sim.EventNodeReady, 1)
	kube, err := kubernetes.NewForConfig(kubeapi.Config(p.site.API(), kubeapi.UserAdmin))
	require.NoError(t, err)
	found, err := kube.CoreV1().ConfigMaps("").List(p.ctx, metav1.ListOptions{})
	require.NoError(t, err)
	names := map[string]string{}
	for _, one := range found.Items {
		names[one.Name] = one.Namespace
	}
	require.Equal(t, "default", names["b"])
	require.NotContains(t, names, "a")
}

func TestForeignAgentInstallsInOneStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.23", sim.Faults{})
	o.AgentSteps = model.InstallStep
	p.start(t, o)
	p.startCluster(t)
	host := p.host(p.ctx, t)
	p.command(host, wire.StepTypeInstall, p.installArgs(t, host, wire.HostRoleMaster)) // its reply is lost in the reboot
	p.seen(t, o.Root, sim.EventNodeReady, 1)
	require.Subset(t, p.reached(host), []wire.HostStage{
		wire.HostStageStartingInstallation, wire.HostStageWaitingForBootkube, wire.HostStageWritingImageToDisk, wire.HostStageRebooting,
	})
}

func (s *service) registered(host uuid.UUID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.registrations[host]
}

func (p *place) startCluster(t *testing.T) {
	t.Helper()
	cluster, err := sim.NewCluster(sim.ClusterOptions{
		Root: filepath.Join(p.dir, "cluster"), Site: p.site, Log: slog.New(slog.DiscardHandler),
		Controller: &sim.ControllerOptions{
			ServiceURL: p.server.URL, ClusterID: p.clusterID, Site: p.site, Root: filepath.Join(p.dir, "controller"),
			Log: slog.New(slog.DiscardHandler),
		},
	})
	require.NoError(t, err)
	p.play(t, cluster.Run)
}

// play runs a part of the place until the test ends.
func (p *place) play(t *testing.T, part func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

// installSingleNode runs the steps of a single node, which reboots at the end.
func (p *place) installSingleNode(t *testing.T, host uuid.UUID) {
	t.Helper()
	for _, step := range []wire.StepType{
		steps.DiskClean, steps.BootstrapStart, steps.BootkubeWait, steps.IgnitionFetch, steps.ImageWrite, steps.Reboot,
	} {
		reply := p.do(p.ctx, t, host, step, wire.HostRoleMaster)
		require.Zero(t, reply.ExitCode, "%s: %s", step, reply.Error)
	}
}

// An agent of another implementation starts its installer in a container that keeps its name when it fails:
// podman answers 125 to the next one until the host boots.
func TestContainerOfAForeignAgentKeepsItsName(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.24", sim.Faults{Fail: map[string]int{"ignition-fetch": 1, "bootstrap-start": 1}})
	o.AgentSteps = model.InstallStep
	_, stop := p.start(t, o)
	host := p.host(p.ctx, t)
	install := func() wire.StepReply {
		return p.result(p.ctx, t, p.command(host, wire.StepTypeInstall, p.installArgs(t, host, wire.HostRoleMaster)))
	}
	reply := install()
	require.Equal(t, 1, reply.ExitCode, reply.Error)
	require.Contains(t, reply.Error, "bootkube.service")
	reply = install()
	require.Equal(t, 125, reply.ExitCode, reply.Error)
	require.Contains(t, reply.Error, `the container name "assisted-installer" is already in use by `)
	stop()
}

func TestAClusterThatIsInstalledAgainHasAControllerOfItsOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.25", sim.Faults{})
	machine, _ := p.start(t, o)
	cluster, err := sim.NewCluster(sim.ClusterOptions{Root: filepath.Join(p.dir, "cluster"), Site: p.site, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	p.play(t, cluster.Run)
	p.play(t, func(ctx context.Context) error {
		err := sim.RunControllers(ctx, sim.ControllerOptions{
			ServiceURL: p.server.URL, ClusterID: p.clusterID, Site: p.site, Root: filepath.Join(p.dir, "controller"),
			Log: slog.New(slog.DiscardHandler),
		})
		require.ErrorIs(t, err, context.Canceled)
		return nil
	})
	for installation := range 2 {
		host := p.host(p.ctx, t)
		p.know(t, host)
		p.installSingleNode(t, host)
		require.NoError(t, p.wait(p.ctx, func() bool { return slices.Contains(p.stages[host], wire.HostStageJoined) }))
		if installation > 0 {
			break
		}
		// The user cancels and resets the installation, and boots the host from the discovery image again. The controller
		// ends with an installation that is over.
		p.update(func() {
			p.status = wire.ClusterStatusCancelled
			delete(p.hosts, host)
			delete(p.stages, host)
		})
		require.NoError(t, machine.PowerCycle(sim.FromLive))
		p.host(p.ctx, t)
		p.update(func() { p.status = wire.ClusterStatusInstalling })
	}
}
