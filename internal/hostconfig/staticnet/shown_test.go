package staticnet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// Users take their states from nmstatectl show, which prints more than it applies.
func TestWhatNMStateOnlyShowsIsIgnored(t *testing.T) {
	t.Parallel()
	const plain = "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  ipv4:\n    enabled: true\n    dhcp: false\n" +
		"    address:\n    - ip: 192.0.2.5\n      prefix-length: 24\n"
	want := together(keyfiles(t, plain))
	for name, more := range map[string]string{
		"limits of the MTU":         "  min-mtu: 68\n  max-mtu: 9194\n",
		"the permanent address":     "  permanent-mac-address: 52:54:00:AA:BB:01\n",
		"the driver":                "  driver: virtio_net\n",
		"no addresses of multipath": "  mptcp:\n    address-flags: []\n",
		"a lease":                   "      valid-left: 86390sec\n      preferred-left: 86390sec\n",
		"a lease by other names":    "      valid-life-time: forever\n      preferred-lft: forever\n      mptcp-flags: []\n",
		"name servers that run": "dns-resolver:\n  config: {}\n  running:\n    server: [192.0.2.53]\n" +
			"routes:\n  config: []\n  running:\n  - {destination: 0.0.0.0/0, next-hop-interface: eth0, next-hop-address: 192.0.2.1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, together(keyfiles(t, plain+more)))
			hosts, err := staticnet.Parse(config(t, plain+more))
			require.NoError(t, err)
			files, err := staticnet.Files(hosts, staticnet.MethodNMState)
			require.NoError(t, err)
			for _, f := range files {
				for _, key := range []string{"-mtu", "permanent", "driver", "mptcp", "valid", "preferred", "running"} {
					require.False(t, strings.HasSuffix(f.Path, "/network.yml") && strings.Contains(string(f.Content), key), key)
				}
			}
		})
	}
	for name, more := range map[string]string{
		"routes that run without others": "routes: {running: [{destination: 0.0.0.0/0, next-hop-interface: eth0}]}\n",
		"addresses of multipath":         "  mptcp:\n    address-flags: [subflow]\n",
		"a key that does not exist":      "  minimum-mtu: 68\n",
	} {
		t.Run("but not "+name, func(t *testing.T) {
			t.Parallel()
			_, err := staticnet.Parse(config(t, plain+more))
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, "is not supported")
		})
	}
}

func TestSpeedIsForcedWithoutAutoNegotiation(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"{speed: 1000, duplex: full}":                          "auto-negotiate=false\nduplex=full\nmac-address=52:54:00:AA:BB:01\nspeed=1000\n",
		"{auto-negotiation: false, speed: 100, duplex: half}":  "auto-negotiate=false\nduplex=half\nmac-address=52:54:00:AA:BB:01\nspeed=100\n",
		"{auto-negotiation: true, speed: 10000, duplex: full}": "auto-negotiate=true\nmac-address=52:54:00:AA:BB:01\n",
		"{auto-negotiation: true}":                             "auto-negotiate=true\nmac-address=52:54:00:AA:BB:01\n",
		"{}":                                                   "mac-address=52:54:00:AA:BB:01\n",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			files := keyfiles(t, "interfaces:\n- {name: eth0, type: ethernet, state: up, ethernet: "+settings+"}\n")
			file := string(files["eth0.nmconnection"])
			require.Contains(t, file+"\n", "[ethernet]\n"+want+"\n")
			_, complaints, err := manager(t, file)
			require.NoError(t, err, complaints)
		})
	}
}
