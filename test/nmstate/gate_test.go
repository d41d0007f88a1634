package nmstate_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// shapes are network states with places that have one of several values. Many
// combinations are wrong, and who says so first is the question.
var shapes = []string{
	"- {name: eth0, type: ethernet, mtu: <mtu>, ipv4: <ipv4>, ipv6: <ipv6>}",
	"- {name: eth0, type: ethernet, state: down, ipv4: <ipv4>, ipv6: <ipv6>, description: <description>}",
	"- {name: b, type: bond, link-aggregation: {mode: <mode>, port: [eth0], options: {<option>, <other>}}, ipv4: <ipv4>, ipv6: <ipv6>}",
	"- {name: br, type: linux-bridge, bridge: {options: {stp: {<tree>}}, port: [{name: eth0, vlan: <vlan>}]}, ipv4: <ipv4>, ipv6: <ipv6>}",
	"- {name: v, type: vlan, vlan: {base-iface: eth0, id: <id>, protocol: <protocol>, registration-protocol: <registration>}, ipv4: " +
		"<ipv4>, ipv6: <ipv6>}",
	"- {name: r, type: vrf, vrf: {port: [eth0], route-table-id: <table>}, ipv4: <ipv4>}\n- {name: eth0, type: ethernet, ipv4: <ipv4>, " +
		"ipv6: <ipv6>}",
	"- {name: m, type: mac-vlan, mac-vlan: {base-iface: eth0, mode: <way>, promiscuous: <yes>}, ipv4: <ipv4>, ipv6: <ipv6>}",
}

// values that a place may have.
var values = map[string][]string{
	"mtu": {"1500", "1279", "68", "0"},
	"ipv4": {
		"{enabled: false}", "{enabled: true}", "{enabled: true, dhcp: true}",
		"{enabled: true, dhcp: true, auto-dns: false, auto-route-table-id: 5}",
		"{enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}", "{dhcp: true}",
		"{enabled: true, dhcp: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}",
	},
	"ipv6": {
		"{enabled: false}", "{enabled: true}", "{enabled: true, dhcp: true}", "{enabled: true, autoconf: true}",
		"{enabled: true, dhcp: true, autoconf: true, token: '::5'}", "{enabled: true, dhcp: true, token: '::5'}",
		"{enabled: true, address: [{ip: '2001:db8::1', prefix-length: 64}]}",
		"{enabled: true, address: [{ip: 'fe80::1', prefix-length: 64}]}",
	},
	"description": {"a", "a b", "'a: b'", "'# a'", "'a;b=c'"},
	"mode":        {"0", "active-backup", "balance-xor", "broadcast", "4", "balance-tlb", "balance-alb", "lacp"},
	"option": {
		"miimon: 100",
		"primary: eth0",
		"arp_ip_target: 192.0.2.9",
		"lacp_rate: 1",
		"balance-slb: true",
		"tlb_dynamic_lb: 1",
		"num_grat_arp: 3",
		"fail_over_mac: 1",
		"ad_select: 2",
	},
	"other": {
		"arp_interval: 100",
		"xmit_hash_policy: 5",
		"arp_interval: 0",
		"num_unsol_na: 3",
		"num_unsol_na: 4",
		"all_slaves_active: 1",
		"downdelay: 100",
		"min_links: 2",
	},
	"tree": {"enabled: true", "enabled: false, priority: 5", "hello-time: 11", "max-age: 6", "forward-delay: 1"},
	"vlan": {
		"{}", "{mode: access, tag: 5}", "{mode: trunk}", "{mode: trunk, trunk-tags: [{id: 5}, {id-range: {min: 7, max: 9}}]}",
		"{mode: trunk, tag: 5, trunk-tags: [{id: 6}]}",
		"{mode: trunk, enable-native: true, tag: 5, trunk-tags: []}", "{mode: trunk, tag: 0, trunk-tags: [{id: 6}]}",
		"{mode: access, trunk-tags: [{id: 5}]}",
	},
	"id":           {"5", "0", "4094", "4095"},
	"protocol":     {"802.1q", "802.1ad"},
	"registration": {"none", "gvrp", "mvrp"},
	"table":        {"0", "7", "254"},
	"way":          {"bridge", "passthru", "vepa", "source", "unknown"},
	"yes":          {"true", "false"},
	"destination":  {"0.0.0.0/0", "'::/0'", "192.0.2.77/24", "10.0.0.1"},
	"metric":       {"0", "-1", "77"},
	"hop":          {"192.0.2.254", "'2001:db8::fe'", "0.0.0.0"},
	"from":         {"192.0.2.0/24", "'2001:db8::/64'"},
	"rule-table":   {"7", "5", "77"},
	"priority":     {"-1", "5", "31000"},
	"server": {
		"[192.0.2.53]",
		"['2001:db8::53']",
		"[192.0.2.53, '2001:db8::53']",
		"['2001:db8::53', 192.0.2.53]",
		"['fe80::1%eth0']",
		"[]",
	},
	"search": {"[example.com]", "[]"},
}

var place = regexp.MustCompile(`<[a-z0-9-]+>`)

// generated returns a network state that may well be wrong.
func generated(r *rand.Rand) string {
	shape := shapes[r.IntN(len(shapes))]
	state := "interfaces:\n" + shape
	name := strings.TrimSuffix(strings.Fields(shape)[2], ",")
	if r.IntN(2) == 0 {
		state += "\nroutes: {config: [{destination: <destination>, next-hop-address: <hop>, metric: <metric>, table-id: <table>, " +
			"next-hop-interface: " + name + "}]}"
	}
	if r.IntN(2) == 0 {
		state += "\nroute-rules: {config: [{ip-from: <from>, route-table: <rule-table>, priority: <priority>}]}"
	}
	if r.IntN(2) == 0 {
		state += "\ndns-resolver: {config: {server: <server>, search: <search>}}"
	}
	return place.ReplaceAllStringFunc(state, func(key string) string {
		choice := values[strings.Trim(key, "<>")]
		return choice[r.IntN(len(choice))]
	})
}

// nmstate and NetworkManager have to accept at boot whatever was accepted for an InfraEnv: it could not be fixed there.
func TestWhatIsTakenHereIsTakenAtBoot(t *testing.T) {
	t.Parallel()
	oracle := tool(t, "NMSTATE_ORACLE", "generated states were not tried")
	r, taken := rand.New(rand.NewPCG(4, 18)), 0 //nolint:gosec // the same states each time
	for range 3000 {
		state := generated(r)
		hosts, err := staticnet.Parse(config(t, state))
		if err != nil {
			continue
		}
		taken++
		theirs, ours := ask(t, oracle, state), keyfiles(t, "generated", state)
		for _, d := range differences {
			d.settle(theirs, ours)
		}
		require.Equal(t, theirs, ours, state)
		if oldest := os.Getenv("NMSTATE_OLDEST"); oldest != "" {
			require.NotEmpty(t, ask(t, oldest, given(t, hosts[0])), state)
		}
		if taken%10 == 0 {
			requireReadable(t, hosts, state)
		}
	}
	require.Greater(t, taken, 300, "hardly any state was right")
}

// requireReadable has NetworkManager read the keyfiles of a host, where it is installed.
func requireReadable(t *testing.T, hosts []staticnet.Host, state string) {
	t.Helper()
	nmcli, err := exec.LookPath("nmcli")
	if err != nil {
		return
	}
	made, err := staticnet.Keyfiles(hosts[0])
	require.NoError(t, err)
	for file, content := range made {
		command := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.zone", "lab")
		command.Stdin = strings.NewReader(string(content))
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s\n%s", file, out, state)
	}
}
