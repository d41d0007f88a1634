package steps_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/bench/netlab"
)

// installRequest makes the request for a worker of an existing cluster.
func installRequest(t *testing.T, device string) string {
	t.Helper()
	return argument(t, wire.InstallCmdRequest{
		ClusterID: agenttest.ClusterID, InfraEnvID: agenttest.EnvID, HostID: agenttest.HostID, Role: wire.HostRoleWorker,
		BootDevice: device, InstallerArgs: `["--append-karg","bench"]`,
	})
}

// installable gives a host a disk and what stands in for the commands that need an image
// of CoreOS, or would start this machine again.
func installable(t *testing.T, h *host, writes string) (device string) {
	t.Helper()
	h.command(t, "coreos-installer", "echo \"$@\" >\"$DIR/arguments\"\n"+writes)
	for _, name := range []string{"efibootmgr", "bootlist", "shutdown"} {
		h.command(t, name, "echo "+name+" \"$@\" >>\"$DIR/orders\"\n")
	}
	return h.disk(t)
}

func (h *host) file(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(h.dir, name))
	require.NoError(t, err)
	return string(content)
}

// TestInstallationIsOneStepOfServicesOfOtherMakes covers all around the writing; machines of the bench write with the real
// coreos-installer.
func TestInstallationIsOneStepOfServicesOfOtherMakes(t *testing.T) {
	t.Parallel()
	h := newHost(t, "install", "losetup", "lsblk", "wipefs", "mkswap")
	const config = "/opt/install-dir/worker-33333333-3333-4333-8333-333333333333.ign"
	device := installable(
		t,
		h,
		"cp "+config+" \"$DIR/config\"\nfor last in \"$@\"; do :; done\necho written >\"$last\"\necho 'Read disk 1.0 GiB/1.0 GiB "+
			"(100%)' >&2\n",
	)
	require.NoError(t, netlab.Command("mkswap", device))
	h.start(t)
	reply := h.ask(t, wire.StepTypeInstall, installRequest(t, "/dev/not-there"))
	require.Equal(t, -1, reply.ExitCode)
	require.Contains(t, reply.Error, "/dev/not-there")

	answer[struct{}](t, h, wire.StepTypeInstall, installRequest(t, device))
	require.Equal(t, "install -i "+config+" --append-karg bench "+device+"\n", h.file(t, "arguments"))
	require.Equal(t, agenttest.Ignition, h.file(t, "config"))
	content, err := os.ReadFile(device)
	require.NoError(t, err)
	require.Equal(t, "written\n", string(content[:8]))
	require.NotContains(t, string(content[:4096]), "SWAPSPACE2", "what was on the disk is wiped")
	require.Contains(t, h.file(t, "orders"), "shutdown -r +1\n")
	require.Contains(t, archive(t, h.Seen().Logs), "agent.log")
	var stages []string
	for _, progress := range h.Seen().Progress {
		stages = append(stages, string(*progress.CurrentStage))
	}
	stages = slices.Compact(stages)
	require.Equal(
		t,
		[]string{"Failed", "Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting"},
		stages,
	)
}

func TestStopInstallationEndsTheWriting(t *testing.T) {
	t.Parallel()
	h := newHost(t, "stop", "losetup")
	device := installable(t, h, "echo $$ >\"$DIR/writer\"\nexec sleep 1000\n")
	h.start(t)
	h.Give("written", wire.StepTypeInstall, installRequest(t, device))
	await.True(t, func() bool { found, _ := filepath.Glob(filepath.Join(h.dir, "writer")); return len(found) > 0 })
	require.NotEmpty(t, h.processes(t))
	require.Equal(t, 125, h.ask(t, wire.StepTypeInstall, installRequest(t, device)).ExitCode, "one at a time")
	require.Zero(t, h.ask(t, wire.StepTypeStopInstallation).ExitCode)
	reply := h.AwaitReply(t, "written")
	require.Equal(t, -1, reply.ExitCode)
	require.Contains(t, reply.Error, "stopped: the installation was called off")
	require.Empty(t, h.processes(t), "no process writes any more")
}

func TestStepsOfNoAgentAreRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t, "unknown")
	h.start(t)
	for _, kind := range []wire.StepType{wire.StepTypeExecute, wire.StepTypeNextStepRunner} {
		reply := h.ask(t, kind, "reboot")
		require.Equal(t, -1, reply.ExitCode)
		require.Contains(t, reply.Error, "unknown step type")
	}
}
