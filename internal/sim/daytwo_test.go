package sim_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/sim"
	"slipway/internal/sim/hardware"
	"slipway/internal/wire"
)

// installed makes a place with a cluster of a single node.
func installed(t *testing.T) (*place, uuid.UUID) {
	t.Helper()
	p := newPlace(t, 1)
	require.NoError(t, p.site.SetNames(map[string][]netip.Addr{"api.test.example.com": {netip.MustParseAddr("192.0.2.50")}}))
	o := p.options("sno", "192.0.2.50", sim.Faults{})
	p.start(t, o)
	p.startCluster(t)
	host := p.host(p.ctx, t)
	for _, step := range []wire.StepType{
		steps.BootstrapStart, steps.BootkubeWait, steps.IgnitionFetch, steps.ImageWrite, steps.Reboot,
	} {
		reply := p.do(p.ctx, t, host, step, wire.HostRoleMaster)
		require.Zero(t, reply.ExitCode, "%s: %s", step, reply.Error)
	}
	p.seen(t, o.Root, sim.EventNodeReady, 1)
	return p, host
}

const nodeConfig = "http://api.test.example.com:22624/config/worker"

func (p *place) reach(t *testing.T, host uuid.UUID, url string) wire.StepReply {
	t.Helper()
	return p.result(p.ctx, t, p.command(host, wire.StepTypeAPIVipConnectivityCheck, fmt.Sprintf(`{"url":%q}`, url)))
}

func TestMachineJoinsAClusterThatExistsAndIsTakenBack(t *testing.T) {
	t.Parallel()
	p, node := installed(t)
	o := p.options("extra-0", "192.0.2.51", sim.Faults{})
	o.Spec = hardware.New("extra-0", hardware.Worker, netip.MustParsePrefix("192.0.2.51/24"), netip.MustParseAddr("192.0.2.1"))
	machine, _ := p.start(t, o)
	host := p.host(p.ctx, t, node)

	require.Contains(t, p.reach(t, host, nodeConfig).Output, `"is_success":true`)
	require.Contains(t, p.reach(t, host, nodeConfig).Output, "/etc/kubernetes/manifests/keepalived.yaml", "the rules read it")
	require.NotContains(t, p.reach(t, host, nodeConfig).Output, "/etc/kubernetes/kubeconfig", "a credential of the cluster stays there")
	require.Contains(t, p.reach(t, host, "http://api.test.example.com:22624/config/unknown").Output, "404")
	require.Contains(t, p.reach(t, host, "http://api.other.example.com:22624/config/worker").Output, "no such host")

	p.update(func() {
		p.ignitions[host] = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"` + nodeConfig + `"}]}},` +
			`"storage":{"files":[{"path":"/etc/hostname","mode":420,"contents":{"source":"data:,extra-0"}}]}}`
	})
	for _, step := range []wire.StepType{steps.DiskClean, steps.IgnitionFetch, steps.ImageWrite, steps.Reboot} {
		reply := p.do(p.ctx, t, host, step, wire.HostRoleWorker)
		require.Zero(t, reply.ExitCode, "%s: %s", step, reply.Error)
	}
	require.NoError(t, sim.AwaitNodes(p.ctx, p.site, 50*time.Millisecond, "extra-0", "node-"+node.String()[:8]))
	require.Equal(t, sim.FromDisk, machine.State().From)

	image := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }))
	t.Cleanup(image.Close)
	require.NoError(t, p.site.TakeBack(true))
	fetch := fmt.Sprintf(
		`{"host_fs_mount_dir":"/host","kernel_url":"%[1]s/kernel","initrd_url":"%[1]s/initrd","rootfs_url":"%[1]s/rootfs"}`,
		image.URL,
	)
	reply := p.result(p.ctx, t, p.command(host, wire.StepTypeDownloadBootArtifacts, fetch))
	require.Zero(t, reply.ExitCode, reply.Error)
	kernel, err := os.ReadFile(filepath.Join(o.Root, "root", "boot", "discovery", "vmlinuz"))
	require.NoError(t, err)
	require.Equal(t, "/kernel", string(kernel))
	require.Equal(t, 1, p.registered(host), "an agent on an installed system does not register")
	p.command(host, wire.StepTypeRebootForReclaim, `{"host_fs_mount_dir":"/host"}`) // its reply may be lost in the reboot
	require.NoError(t, p.wait(p.ctx, func() bool { return p.registrations[host] == 2 }))
	require.Equal(t, sim.FromLive, machine.State().From)
}
