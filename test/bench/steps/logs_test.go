package steps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
	"slipway/internal/testing/await"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
	"slipway/test/bench/netlab"
)

// archive reads the files of an uploaded archive.
func archive(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, content := range tartest.FilesGzip(t, packed) {
		files[strings.TrimPrefix(name, agenttest.HostID.String()+"/")] = content
	}
	return files
}

func TestLogsOfTheJournalAreHandedIn(t *testing.T) {
	t.Parallel()
	if _, err := netlab.Find("/lib/systemd/systemd-journald"); err != nil {
		t.Skip("SKIP: no journal without systemd-journald")
	}
	h := newHost(t, "logs", "journalctl", "logger", "setpriv")
	h.journal = true
	h.start(t)
	// A unit in the journal of a host without systemd: what an administrator's program reports of it.
	for _, unit := range []string{"agent.service", "bootkube.service", "other.service"} {
		await.True(t, func() bool { return h.say(unit, "hello from "+unit+", "+token) == nil })
	}
	request := wire.LogsGatherCmdRequest{
		ClusterID:       agenttest.ClusterID,
		HostID:          agenttest.HostID,
		InfraEnvID:      agenttest.EnvID,
		InstallerGather: true,
	}
	answer[struct{}](t, h, wire.StepTypeLogsGather, argument(t, request))
	require.Equal(t, []wire.LogsState{wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted}, h.Seen().LogsStates)
	files := archive(t, h.Seen().Logs)
	require.Contains(t, files["agent.log"], "hello from agent.service, [redacted]")
	require.NotContains(t, files["agent.log"], "other.service")
	require.NotContains(t, files, "bootkube.log")
	require.Contains(t, files["addresses.txt"], hostAddress)
	require.Contains(t, files["routes.txt"], "default via "+gateway)
	require.Equal(t, "nameserver "+gateway+"\n", files["resolv.conf"])

	request.Bootstrap = true
	answer[struct{}](t, h, wire.StepTypeLogsGather, argument(t, request))
	require.Contains(t, archive(t, h.Seen().Logs)["bootkube.log"], "hello from bootkube.service")
}

// say puts a line about a unit into the journal of the host.
func (h *host) say(unit, text string) error {
	return h.enter("sh", "-c", "printf 'MESSAGE=%s\nOBJECT_SYSTEMD_UNIT=%s\n' \"$2\" \"$1\" | logger --journald && journalctl --sync && "+
		"journalctl --no-pager --unit=\"$1\" | grep -q hello", "sh", unit, text)
}

func TestInventoryOfThisMachine(t *testing.T) {
	t.Parallel()
	h := newHost(t, "inventory")
	h.start(t)
	found := answer[wire.Inventory](t, h, wire.StepTypeInventory, agenttest.HostID.String())
	require.Positive(t, found.CPU.Count)
	require.Positive(t, found.Memory.PhysicalBytes)
	require.Len(t, found.Interfaces, 1)
	nic := found.Interfaces[0]
	require.Equal(t, "eth0", nic.Name)
	require.Equal(t, "52:54:67:00:00:01", nic.MacAddress)
	require.Equal(t, []string{hostAddress + "/24"}, nic.Ipv4Addresses)
	require.Equal(t, []string{hostIPv6 + "/64"}, nic.Ipv6Addresses)
	require.True(t, nic.HasCarrier)
	var gateways []string
	for _, route := range found.Routes {
		if route.Destination == "0.0.0.0" {
			gateways = append(gateways, route.Gateway)
		}
	}
	require.Equal(t, []string{gateway}, gateways)
}
