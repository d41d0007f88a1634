package staticnet_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/staticnet"
)

var update = flag.Bool("update", false, "write golden files again")

// config is static_network_config of the API with the same two interfaces for every state.
func config(t *testing.T, states ...string) string {
	t.Helper()
	var list []any
	for i, state := range states {
		mac := func(nic string) map[string]string {
			return map[string]string{"mac_address": "52:54:00:AA:B" + string(rune('B'-i)) + ":0" + nic, "logical_nic_name": "eth" + map[string]string{"1": "0", "2": "1"}[nic]}
		}
		list = append(list, map[string]any{"network_yaml": state, "mac_interface_map": []any{mac("1"), mac("2")}})
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	return string(text)
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(content)
}

var examples = []string{"static", "bond-vlan", "bridge", "dynamic"}

func keyfiles(t *testing.T, example string) map[string][]byte {
	t.Helper()
	hosts, err := staticnet.Parse(config(t, read(t, "testdata", example, "state.yaml")))
	require.NoError(t, err)
	require.Len(t, hosts, 1)
	files, err := staticnet.Keyfiles(hosts[0])
	require.NoError(t, err)
	return files
}

func TestStatesBecomeKeyfiles(t *testing.T) {
	t.Parallel()
	for _, example := range examples {
		files := keyfiles(t, example)
		golden, err := filepath.Glob(filepath.Join("testdata", example, "*.nmconnection"))
		require.NoError(t, err)
		if *update {
			for _, old := range golden {
				require.NoError(t, os.Remove(old))
			}
			for name, content := range files {
				require.NoError(t, os.WriteFile(filepath.Join("testdata", example, name), content, 0o600))
			}
			continue
		}
		require.Len(t, golden, len(files), example)
		for name, content := range files {
			require.Equal(t, read(t, "testdata", example, name), string(content), "%s/%s", example, name)
		}
	}
}

// bomb is less than what a host may have, and gigabytes once its aliases are replaced.
var bomb = "interfaces: []\ndns-resolver: {config: {search: [&a \"" + strings.Repeat("x", 100_000) + "\"" + strings.Repeat(",*a", 40_000) + "]}}\n"

func TestStatesThatGrowBeyondReasonAreRefused(t *testing.T) {
	t.Parallel()
	_, err := staticnet.Parse(config(t, bomb))
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "static_network_config[0].network_yaml: ")
	require.ErrorContains(t, err, "after aliases are replaced")
}

func TestNetworkManagerReadsTheKeyfiles(t *testing.T) {
	t.Parallel()
	nmcli, err := exec.LookPath("nmcli")
	if err != nil {
		t.Skip("SKIP: nmcli is not installed (Debian: network-manager), the keyfiles were compared with golden ones only")
	}
	for _, example := range examples {
		for name, content := range keyfiles(t, example) {
			// Without a connection to change nmcli reads one from its input, and refuses what it cannot read.
			command := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.zone", "lab")
			command.Stdin = bytes.NewReader(content)
			var complaints bytes.Buffer
			command.Stderr = &complaints
			out, err := command.Output()
			require.NoError(t, err, "%s/%s: %s", example, name, complaints.String())
			require.Empty(t, complaints.String(), "%s/%s", example, name)
			requireKept(t, string(content), string(out), example+"/"+name)
		}
	}
}

// requireKept makes sure that NetworkManager has understood each line: what it does not
// know it leaves out.
func requireKept(t *testing.T, sent, got, name string) {
	t.Helper()
	for line := range strings.Lines(sent) {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		if !found || slices.Contains([]string{"autoconnect=true", "auto-negotiate=false", "flags=1", "method=disabled"}, line) {
			continue // written by its default, or in another way
		}
		if key == "dns" || strings.HasPrefix(key, "address") || strings.HasPrefix(key, "routing-rule") {
			key = "" // numbered again
		}
		require.Contains(t, strings.ToLower(got), strings.ToLower(strings.TrimSuffix(value, ";")), "%s: %s %s", name, key, line)
	}
}

func TestFaultsTellTheirPlace(t *testing.T) {
	t.Parallel()
	ethernet := "interfaces:\n- name: eth0\n  type: ethernet\n"
	addressed := ethernet + "  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}\n"
	for name, c := range map[string]struct{ state, want string }{
		"fails when it is no YAML":                               {"a: [", "require a network state in YAML"},
		"fails when it is empty":                                 {"", "found none"},
		"fails when it is a list":                                {"- a", "require a network state in YAML"},
		"fails without interfaces":                               {"interfaces: []", "interfaces: require at least one interface"},
		"fails with a key it does not know":                      {"ovs-db: {}\n" + ethernet, "ovs-db: require a key that is supported"},
		"fails with a key it does not know far inside":           {ethernet + "  ethernet: {sr-iov: {total-vfs: 2}}", "interfaces[0].ethernet.sr-iov: require a key that is supported"},
		"fails with VLAN filtering of a bridge":                  {"interfaces:\n- {name: b, type: linux-bridge, bridge: {port: [{name: eth0, vlan: {}}]}}", "interfaces[0].bridge.port[0].vlan"},
		"fails with a type it does not know":                     {"interfaces:\n- {name: eth0, type: ovs-bridge}", "interfaces[0].type: require one of bond, dummy, ethernet, linux-bridge, vlan, found \"ovs-bridge\""},
		"fails with another kind of value":                       {"interfaces:\n- {name: eth0, type: ethernet, mtu: big}", "found another kind of value"},
		"fails without a name":                                   {"interfaces:\n- {type: ethernet}", "interfaces[0].name: require the name"},
		"fails with a name that leaves its folder":               {"interfaces:\n- {name: ../eth0, type: ethernet}", "interfaces[0].name: require the name"},
		"fails when an interface has no MAC address":             {"interfaces:\n- {name: eth7, type: ethernet}", "interfaces[0].name: require eth7 in mac_interface_map"},
		"fails when an interface is there twice":                 {ethernet + "- name: eth0\n  type: ethernet", "found eth0 again"},
		"fails with a state it cannot bring about":               {ethernet + "  state: absent", "interfaces[0].state: require up or down"},
		"fails with an MTU that is too small":                    {ethernet + "  mtu: 20", "interfaces[0].mtu: require 68 to 65535, found 20"},
		"fails with a MAC address that is none":                  {ethernet + "  mac-address: here", "interfaces[0].mac-address"},
		"fails with an address of the other family":              {ethernet + "  ipv4: {enabled: true, address: [{ip: '::1', prefix-length: 64}]}", "interfaces[0].ipv4.address[0].ip: require an IPv4 address"},
		"fails without a prefix":                                 {ethernet + "  ipv4: {enabled: true, address: [{ip: 192.0.2.1}]}", "interfaces[0].ipv4.address[0].prefix-length: require a number"},
		"fails with a prefix that is too long":                   {ethernet + "  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 33}]}", "require 0 to 32, found 33"},
		"fails with router advertisements alone":                 {ethernet + "  ipv6: {enabled: true, autoconf: true}", "ipv6.autoconf: require dhcp with it"},
		"fails with a VLAN without settings":                     {"interfaces:\n- {name: v, type: vlan}", "interfaces[0].vlan: require it with type vlan"},
		"fails with VLAN settings elsewhere":                     {ethernet + "  vlan: {id: 1, base-iface: eth1}", "interfaces[0].vlan: require it only with type vlan"},
		"fails with a VLAN out of range":                         {"interfaces:\n- {name: v, type: vlan, vlan: {id: 4095, base-iface: eth0}}", "interfaces[0].vlan.id: require 1 to 4094"},
		"fails with a VLAN on nothing":                           {"interfaces:\n- {name: v, type: vlan, vlan: {id: 5, base-iface: eth7}}", "require eth7 among the interfaces or in mac_interface_map"},
		"fails with a VLAN on itself":                            {"interfaces:\n- {name: v, type: vlan, vlan: {id: 5, base-iface: v}}", "require another interface than v itself"},
		"fails with a name the kernel does not take":             {"interfaces:\n- {name: a-very-long-interface, type: dummy}", "at most 15 characters"},
		"fails with a bond of another mode":                      {"interfaces:\n- {name: b, type: bond, link-aggregation: {mode: lacp, port: [eth0]}}", "link-aggregation.mode: require one of balance-rr"},
		"fails with a bond without ports":                        {"interfaces:\n- {name: b, type: bond, link-aggregation: {mode: 802.3ad}}", "link-aggregation.port: require at least one"},
		"fails with a bond option it does not know":              {"interfaces:\n- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0], options: {a: 1}}}", "link-aggregation.options.a"},
		"fails with a bond option that adds a line":              {"interfaces:\n- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0], options: {primary: \"a\\nb=c\"}}}", "options.primary: require a value"},
		"fails with a port of two bonds":                         {"interfaces:\n- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0]}}\n- {name: c, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0]}}", "found eth0, a port of b"},
		"fails with addresses on a port":                         {addressed + "- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0]}}", "require no addresses on eth0, a port of b"},
		"fails with speed without duplex":                        {ethernet + "  ethernet: {speed: 1000}", "require speed and duplex together"},
		"fails with a route to nowhere":                          {addressed + "routes: {config: [{destination: all, next-hop-interface: eth0}]}", "routes.config[0].destination: require a network"},
		"fails with a route over an interface that is not there": {addressed + "routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eth9}]}", "routes.config[0].next-hop-interface: require one of the interfaces"},
		"fails with a route of a family the interface lacks":     {addressed + "routes: {config: [{destination: '::/0', next-hop-interface: eth0}]}", "require an interface with IPv6 addresses"},
		"fails with a next hop of the other family":              {addressed + "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: '::1', next-hop-interface: eth0}]}", "next-hop-address: require an IPv4 address"},
		"fails with a name server that is a name":                {addressed + "dns-resolver: {config: {server: [dns.example.com]}}", "dns-resolver.config.server[0]: require an address"},
		"fails with a name server nobody can reach":              {addressed + "dns-resolver: {config: {server: ['2001:db8::1']}}", "require an interface with IPv6 addresses for 2001:db8::1"},
		"fails with a search domain that adds a line":            {addressed + "dns-resolver: {config: {search: [\"a\\nb=c\"]}}", "dns-resolver.config.search[0]: require a name"},
		"fails with a rule of no family":                         {addressed + "route-rules: {config: [{route-table: 5}]}", "route-rules.config[0]: require ip-from"},
		"fails with a rule without a table":                      {addressed + "route-rules: {config: [{ip-from: 192.0.2.1}]}", "route-rules.config[0].route-table: require a table"},
	} {
		_, err := staticnet.Parse(config(t, c.state))
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "static_network_config[0].network_yaml: ", name)
	}
}

func TestFaultsOfTheMapTellTheirPlace(t *testing.T) {
	t.Parallel()
	nic := func(mac, name string) string {
		return `{"mac_address":"` + mac + `","logical_nic_name":"` + name + `"}`
	}
	state := `"network_yaml":"interfaces:\n- {name: eth0, type: ethernet}"`
	host := func(nics ...string) string {
		return `{` + state + `,"mac_interface_map":[` + strings.Join(nics, ",") + `]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"fails when it is no list":               {`{}`, "require a JSON list"},
		"fails without an interface":             {`[` + host() + `]`, "static_network_config[0].mac_interface_map: require"},
		"fails with a MAC address that is none":  {`[` + host(nic("52:54", "eth0")) + `]`, "mac_interface_map[0].mac_address: require a MAC address"},
		"fails with a MAC address of InfiniBand": {`[` + host(nic("52:54:00:aa:bb:cc:dd:ee", "eth0")) + `]`, "require a MAC address"},
		"fails with a name that adds a line":     {`[` + host(nic("52:54:00:aa:bb:01", `eth0\nx`)) + `]`, "logical_nic_name: require the name"},
		"fails with a name twice":                {`[` + host(nic("52:54:00:aa:bb:01", "eth0"), nic("52:54:00:aa:bb:02", "eth0")) + `]`, `found "eth0" again`},
		"fails with a MAC address twice":         {`[` + host(nic("52:54:00:aa:bb:01", "eth0"), nic("52:54:00:AA:bb:01", "eth1")) + `]`, "found 52:54:00:aa:bb:01 again"},
		"fails with a MAC address of two hosts":  {`[` + host(nic("52:54:00:aa:bb:01", "eth0")) + `,` + host(nic("52:54:00:AA:BB:01", "eth0")) + `]`, "static_network_config[1].mac_interface_map[0].mac_address: require each MAC address once"},
	} {
		_, err := staticnet.Parse(c.text)
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
	}
	hosts, err := staticnet.Parse("")
	require.NoError(t, err)
	require.Empty(t, hosts)
}

func TestKeyfilesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	first := keyfiles(t, "bond-vlan")
	require.Equal(t, []string{"bond0.404.nmconnection", "bond0.nmconnection", "eth0.nmconnection", "eth1.nmconnection"}, slices.Sorted(maps.Keys(first)))
	for range 5 {
		require.Equal(t, first, keyfiles(t, "bond-vlan"))
	}
}

func FuzzParse(f *testing.F) {
	for _, example := range examples {
		content, err := os.ReadFile(filepath.Join("testdata", example, "state.yaml"))
		require.NoError(f, err)
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, state string) {
		hosts, err := staticnet.Parse(config(t, state))
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		files, err := staticnet.Files(hosts)
		require.NoError(t, err)
		for _, file := range files {
			require.NotContains(t, file.Path, "..", "a file leaves its folder")
		}
	})
}
