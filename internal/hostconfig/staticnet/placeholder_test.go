package staticnet_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// The console's requests at each step of "Static IP, bridges, and bonds", form view: made with @openshift-assisted/ui-lib 2.17.1
// (ocm/components/clusterConfiguration/staticIp/data: getDummyInfraEnvField, networkWideToInfraEnvField, formViewHostsToInfraEnvField),
// networks 192.0.2.0/24 and 2001:db8::/64, VLAN 10, a host at 192.0.2.10 and 2001:db8::10 with 52:54:00:00:00:01 (and :02 in a bond).
const consoleFile = "testdata/console.json"

func consoleSteps(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(consoleFile)
	require.NoError(t, err)
	steps := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(text, &steps))
	return steps
}

func TestStepsOfTheConsoleAreTaken(t *testing.T) {
	t.Parallel()
	const (
		v4     = "192.0.2.10/24"
		v6     = "2001:db8::10/64"
		vlan   = "id=10"
		bond   = "mode=active-backup"
		first  = "mac-address=52:54:00:00:00:01"
		second = "mac-address=52:54:00:00:00:02"
	)
	ready := map[string][]string{ // what the host's connections hold, once it has all its addresses
		"IPv4, a host":                   {v4, first},
		"IPv4, bond, a host":             {v4, bond, first, second},
		"IPv4, VLAN, a host":             {v4, vlan, first},
		"IPv4, VLAN, bond, a host":       {v4, vlan, bond, first, second},
		"dual stack, a host":             {v4, v6, first},
		"dual stack, bond, a host":       {v4, v6, bond, first, second},
		"dual stack, VLAN, a host":       {v4, v6, vlan, first},
		"dual stack, VLAN, bond, a host": {v4, v6, vlan, bond, first, second},
	}
	waiting := []string{
		"first",
		"IPv4, networks only",
		"IPv4, VLAN, networks only",
		"dual stack, networks only",
		"dual stack, VLAN, networks only",
		"dual stack, a host without its second address",
		"dual stack, bond, a host without its second address",
		"dual stack, VLAN, a host without its second address",
		"dual stack, VLAN, bond, a host without its second address",
	}
	steps := consoleSteps(t)
	require.Len(t, steps, len(ready)+len(waiting))
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, err := staticnet.Parse(string(step))
			require.NoError(t, err)
			require.Len(t, hosts, 1)
			for _, how := range []staticnet.Method{staticnet.MethodKeyfiles, staticnet.MethodNMState} {
				files, err := staticnet.Files(hosts, how)
				require.NoError(t, err)
				if slices.Contains(waiting, name) {
					require.True(t, staticnet.Waiting(hosts))
					require.Empty(t, files, "no image gets placeholders")
					continue
				}
				require.False(t, staticnet.Waiting(hosts))
				require.NotEmpty(t, files)
			}
			var all strings.Builder
			for _, want := range ready[name] {
				if all.Len() == 0 {
					keyfiles, err := staticnet.Keyfiles(hosts[0])
					require.NoError(t, err)
					for _, content := range keyfiles {
						all.Write(content)
					}
				}
				require.Contains(t, strings.ToLower(all.String()), want)
			}
		})
	}
}

func TestPlaceholdersBesideHostsWithAddresses(t *testing.T) {
	t.Parallel()
	steps := consoleSteps(t)
	both := string(steps["first"])[:strings.LastIndex(string(steps["first"]), "]")] + "," +
		string(steps["IPv4, a host"])[strings.Index(string(steps["IPv4, a host"]), "[")+1:]
	hosts, err := staticnet.Parse(both)
	require.NoError(t, err)
	require.True(t, staticnet.Waiting(hosts), "one of the two waits")
	files, err := staticnet.Files(hosts, staticnet.MethodKeyfiles)
	require.NoError(t, err)
	require.NotEmpty(t, files, "the other has its settings")
	for _, f := range files {
		require.NotContains(t, string(f.Content), "0.0.0.0/24")
	}
}

func TestInterfacesThatContradictEachOtherAreNoRepetition(t *testing.T) {
	t.Parallel()
	_, err := staticnet.Parse(`[{"network_yaml":"interfaces:\n- {name: eth0, type: ethernet, mtu: 1500}\n- {name: eth0, type: ethernet, mtu: 9000}\n",` +
		`"mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]}]`)
	require.ErrorContains(t, err, "eth0")
}
