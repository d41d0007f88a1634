package programs_test

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// cable returns an interface of this machine that keepalived could use.
func cable(t *testing.T) string {
	t.Helper()
	nics, err := net.Interfaces()
	require.NoError(t, err)
	for _, nic := range nics {
		if nic.Flags&net.FlagLoopback == 0 && nic.Flags&net.FlagMulticast != 0 && nic.Flags&net.FlagUp != 0 {
			return nic.Name
		}
	}
	return "eth0"
}

func TestFloatingAddressesStayWithWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]struct {
		contains, lacks, patience string
	}{
		plan.Bootstrap: {"priority 70", "192.0.2.6/32", "interval 10\n    timeout 25\n    rise 1\n    fall 5\n"},
		plan.Master:    {"192.0.2.6/32", "priority 70", "interval 15\n    timeout 25\n    rise 1\n    fall 2\n"},
	} {
		h := &programs.Host{
			Plan: &plan.Cluster{
				APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
				IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
			},
			Role: role, Address: netip.MustParsePrefix("192.0.2.11/24"), Interface: cable(t), State: t.TempDir(),
		}
		text := string(h.Keepalived().Files[filepath.Join(h.State, "keepalived.conf")])
		require.Contains(t, text, "192.0.2.5/32")
		require.Contains(t, text, "https://localhost:6443/readyz")
		require.Contains(t, text, want.contains, role)
		require.NotContains(t, text, want.lacks, role)
		require.Contains(t, text, want.patience, "the address leaves %s after these misses of the API", role)
		t.Run("keepalived takes the config of a "+role, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath("keepalived")
			if err != nil {
				t.Skip("SKIP: keepalived is not here")
			}
			file := filepath.Join(t.TempDir(), "keepalived.conf")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			output, err := exec.Command(program, "--config-test", "--use-file="+file).CombinedOutput()
			require.NoError(t, err, "%s", output)
		})
	}
}
