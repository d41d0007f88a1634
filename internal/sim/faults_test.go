package sim_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/sim"
	"slipway/internal/wire"
)

func TestParseFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, host, step string
		times                  int
		fault                  string
	}{
		{"fails once when nothing is said", "worker-1:image-write", "worker-1", "image-write", 1, ""},
		{"fails as often as asked", "worker-1:ignition-fetch:3", "worker-1", "ignition-fetch", 3, ""},
		{"refuses a host alone", "worker-1", "", "", 0, "require HOST:STEP"},
		{"refuses a step that cannot fail and names those that can", "worker-1:reboot", "", "", 0, "these can: "},
		{"refuses an invalid number", "worker-1:image-write:often", "", "", 0, "require a number"},
	} {
		host, step, times, err := sim.ParseFail(c.text)
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, []any{c.host, c.step, c.times}, []any{host, step, times}, c.name)
	}
}

func TestParseCut(t *testing.T) {
	t.Parallel()
	host, d, step, err := sim.ParseCut("worker-1")
	require.NoError(t, err)
	require.Equal(t, []any{"worker-1", sim.DefaultCut, "image-write"}, []any{host, d, step})
	host, d, step, err = sim.ParseCut("master-0:5s:inventory")
	require.NoError(t, err)
	require.Equal(t, []any{"master-0", 5 * time.Second, "inventory"}, []any{host, d, step})
	_, _, _, err = sim.ParseCut("master-0:soon")
	require.ErrorContains(t, err, "require a duration")
}

func TestStepFailsAsOftenAsAskedAndThenSucceeds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	o := p.options("worker-1", "192.0.2.31", sim.Faults{Fail: map[string]int{"image-write": 1, "ignition-fetch": 1}})
	p.start(t, o)
	host := p.host(p.ctx, t)
	require.NotZero(t, p.do(p.ctx, t, host, steps.IgnitionFetch, wire.HostRoleWorker).ExitCode)
	require.Zero(t, p.do(p.ctx, t, host, steps.IgnitionFetch, wire.HostRoleWorker).ExitCode)

	failed := p.do(p.ctx, t, host, steps.ImageWrite, wire.HostRoleWorker)
	require.NotZero(t, failed.ExitCode)
	require.Contains(t, failed.Error, "coreos-installer")
	content, err := sim.ReadDisk(o.Root, "sda")
	require.NoError(t, err)
	require.Nil(t, content, "a disk half written does not boot")

	require.Zero(t, p.do(p.ctx, t, host, steps.ImageWrite, wire.HostRoleWorker).ExitCode)
	require.Equal(t, 2, count(t, o.Root, sim.EventWriteStarted))
	require.Equal(t, 1, count(t, o.Root, sim.EventWriteFinished))
	require.Equal(t, 2, count(t, o.Root, sim.EventCommandFailed))
}

func TestImageWithoutASignatureIsNotWritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	o := p.options("worker-1", "192.0.2.31", sim.Faults{})
	p.start(t, o)
	host := p.host(p.ctx, t)
	require.Zero(t, p.do(p.ctx, t, host, steps.IgnitionFetch, wire.HostRoleWorker).ExitCode)
	write := func(args string) wire.StepReply {
		var request wire.InstallCmdRequest
		require.NoError(t, json.Unmarshal([]byte(p.installArgs(t, host, wire.HostRoleWorker)), &request))
		request.InstallerArgs = args
		text, err := json.Marshal(request)
		require.NoError(t, err)
		return p.result(p.ctx, t, p.command(host, steps.ImageWrite, string(text)))
	}
	refused := write(`["--image-url","https://mirror.example.com/a.raw.gz"]`)
	require.NotZero(t, refused.ExitCode)
	require.Contains(t, refused.Error, "--insecure not specified and signature not found")
	require.Zero(t, count(t, o.Root, sim.EventWriteStarted))
	require.Zero(t, write(`["--insecure","--image-url","https://mirror.example.com/a.raw.gz"]`).ExitCode)
	require.Equal(t, 1, count(t, o.Root, sim.EventWriteFinished))
}

func TestAddressOfTwoMachinesIsAnsweredTwice(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	p.start(t, p.options("master-0", "192.0.2.36", sim.Faults{}))
	one := p.host(p.ctx, t)
	other := p.options("master-1", "192.0.2.37", sim.Faults{DuplicateIP: true, Loss: 20})
	p.start(t, other)
	two := p.host(p.ctx, t, one)
	reply := p.result(p.ctx, t, p.command(one, wire.StepTypeConnectivityCheck,
		`[{"host_id":"`+two.String()+`","nics":[{"name":"eno1","mac":"`+other.Spec.NICs[0].MAC+`","ip_addresses":["192.0.2.37"]}]}]`))
	require.Zero(t, reply.ExitCode, reply.Error)
	require.Contains(t, reply.Output, `"remote_mac":"`+other.Spec.NICs[0].MAC+`"`)
	require.Contains(t, reply.Output, `"remote_mac":"02`+other.Spec.NICs[0].MAC[2:]+`"`)
	require.Contains(t, reply.Output, `"packet_loss_percentage":20`)
}

func TestMachineLosesItsNetworkAndComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	o := p.options("worker-1", "192.0.2.32", sim.Faults{Cut: 300 * time.Millisecond, CutAt: "disk-clean"})
	p.start(t, o)
	host := p.host(p.ctx, t)
	reply := p.do(p.ctx, t, host, steps.DiskClean, wire.HostRoleWorker)
	require.Zero(t, reply.ExitCode, reply.Error)
	require.Equal(t, 1, count(t, o.Root, sim.EventDisconnected))
	p.seen(t, o.Root, sim.EventConnected, 1)
	require.Equal(t, 1, p.registered(host), "a cut cable is no reboot")
	require.NotEmpty(t, p.site.Stations(o.Spec.NICs[0].Addresses[0].Addr()))
}

func TestWrongBootOrderBringsTheLiveImageBackUntilItIsCorrected(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1)
	o := p.options("sno", "192.0.2.33", sim.Faults{BootLive: 1})
	machine, _ := p.start(t, o)
	p.startCluster(t)
	host := p.host(p.ctx, t)
	for _, step := range []wire.StepType{
		steps.BootstrapStart, steps.BootkubeWait, steps.IgnitionFetch, steps.ImageWrite, steps.Reboot,
	} {
		reply := p.do(p.ctx, t, host, step, wire.HostRoleMaster)
		require.Zero(t, reply.ExitCode, "%s: %s", step, reply.Error)
	}
	require.NoError(t, p.wait(p.ctx, func() bool { return p.registrations[host] == 2 }), "the live image registers again")
	p.seen(t, o.Root, sim.EventNodeReady, 1)
	require.Equal(t, sim.FromDisk, machine.State().From)
	require.Equal(t, 4, count(t, o.Root, sim.EventPoweredOn), "the live image twice, the disk twice")
}

func TestPowerCutInTheLiveImageIsAReboot(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	o := p.options("master-0", "192.0.2.34", sim.Faults{})
	machine, _ := p.start(t, o)
	host := p.host(p.ctx, t)
	before := machine.State().BootID
	require.NoError(t, machine.PowerCycle(""))
	require.NoError(t, p.wait(p.ctx, func() bool { return p.registrations[host] == 2 }))
	require.NotEqual(t, before, machine.State().BootID)
	require.Equal(t, 1, count(t, o.Root, sim.EventPoweredOff))
}

func TestRestartOfTheProcessIsNoReboot(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	o := p.options("master-0", "192.0.2.35", sim.Faults{})
	machine, stop := p.start(t, o)
	host := p.host(p.ctx, t)
	require.Zero(t, p.result(p.ctx, t, p.command(host, wire.StepTypeInventory, host.String())).ExitCode)
	before := machine.State().BootID
	stop()
	again, _ := p.start(t, o)
	reply := p.result(p.ctx, t, p.command(host, wire.StepTypeInventory, host.String()))
	require.Zero(t, reply.ExitCode, reply.Error)
	require.Equal(t, before, again.State().BootID)
	require.Equal(t, 1, p.registered(host))
	require.Equal(t, 2, count(t, o.Root, sim.EventAgentStarted))
	require.Equal(t, 1, count(t, o.Root, sim.EventPoweredOn))
}
