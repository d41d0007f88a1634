package nmstate_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// boot runs the script of a host that applies NMState by itself, with the real nmstatectl,
// on a machine that has interfaces by the names given.
func boot(t *testing.T, nmstatectl, name, state string, interfaces map[string]string) files {
	t.Helper()
	root := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for called, mac := range interfaces {
		write("net/"+called+"/address", mac+"\n")
	}
	settings, err := staticnet.Files(hosts(t, name, state), staticnet.MethodNMState)
	require.NoError(t, err)
	for _, file := range settings {
		write("settings"+strings.TrimPrefix(file.Path, staticnet.Folder), string(file.Content))
	}
	write("script.sh", string(staticnet.Script(staticnet.MethodNMState)))
	at := func(path string) string { return filepath.Join(root, path) }
	command := exec.CommandContext(t.Context(), "sh", at("script.sh"), at("settings"), at("connections"), at("net"), "0")
	command.Env = []string{"PATH=" + filepath.Dir(nmstatectl) + ":/usr/bin:/bin", "TMPDIR=" + root}
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s\n%s", name, out, state)
	made, err := filepath.Glob(at("connections/*"))
	require.NoError(t, err)
	result := files{}
	for _, path := range made {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		result[filepath.Base(path)] = parse(string(content))
	}
	return result
}

// A machine that happens to use the names of the settings gets what nmstate makes of them
// untouched; only interfaces that were to be found by address go by the name found.
func TestHostsThatApplyNMStateMakeTheSameKeyfiles(t *testing.T) {
	t.Parallel()
	oracle := tool(t, "NMSTATE_ORACLE", "hosts that apply NMState were tried with canned replies only")
	nmstatectl := tool(t, "NMSTATECTL", "hosts that apply NMState were tried with canned replies only")
	for name, state := range states(t) {
		t.Run(name, func(t *testing.T) {
			theirs, ours := ask(t, oracle, state), boot(t, nmstatectl, name, state, macs)
			if strings.Contains(state, "identifier: mac-address") {
				settlePorts(theirs, ours)
				settleAddresses(ours, theirs) // the other way round: they go by address here
				settleParents(ours, theirs)
			}
			settleOrder(theirs, ours)
			require.Equal(t, theirs, ours)
		})
	}
}

func TestHostsThatApplyNMStateUseTheirOwnNames(t *testing.T) {
	t.Parallel()
	nmstatectl := tool(t, "NMSTATECTL", "hosts that apply NMState were tried with canned replies only")
	state := `
interfaces:
- {name: eth0, type: ethernet, mac-address: "52:54:00:aa:bb:77",
   ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}, ipv6: {enabled: true, dhcp: true, autoconf: true}}
- {name: eth0.5, type: vlan, vlan: {base-iface: eth0, id: 5}, ipv4: {enabled: true, dhcp: true}}
- {name: bond0, type: bond, link-aggregation: {mode: active-backup, options: {primary: eth1}, port: [eth1]}}
- {name: br0, type: linux-bridge, copy-mac-from: eth1, bridge: {port: [{name: bond0, stp-path-cost: 5}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eth0}]}
route-rules: {config: [{ip-from: 192.0.2.0/24, iif: eth0, route-table: 5, priority: 7}]}
dns-resolver: {config: {server: ["fe80::1%eth0"]}}
`
	got := boot(t, nmstatectl, "crossed names", state, map[string]string{"eth1": macs["eth0"], "ens7": macs["eth1"]})
	require.Equal(t, "eth1", got["eth1.nmconnection"]["connection"]["interface-name"])
	require.Equal(t, "0.0.0.0/0,192.0.2.1,0", got["eth1.nmconnection"]["ipv4"]["route0"])
	require.Equal(t, "priority 7 from 192.0.2.0/24 iif eth1 table 5", got["eth1.nmconnection"]["ipv4"]["routing-rule0"])
	require.Equal(t, "fe80::1", got["eth1.nmconnection"]["ipv6"]["dns"])
	require.Equal(t, "52:54:00:AA:BB:77", got["eth1.nmconnection"]["ethernet"]["cloned-mac-address"])
	require.Equal(t, "eth1", got["eth0.5.nmconnection"]["vlan"]["parent"])
	require.Equal(t, "ens7", got["bond0.nmconnection"]["bond"]["primary"])
	require.Equal(t, "bond0", got["ens7.nmconnection"]["connection"]["master"])
	require.Equal(t, "52:54:00:AA:BB:02", got["br0.nmconnection"]["ethernet"]["cloned-mac-address"])
	require.Equal(t, "5", got["bond0.nmconnection"]["bridge-port"]["path-cost"])
	require.Len(t, got, 5)
}

// The oldest hosts too understand the YAML that hosts get.
func TestTheOldestHostsTakeWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	oldest := tool(t, "NMSTATE_OLDEST", "what the first hosts that apply NMState understand was not tried")
	for name, state := range states(t) {
		require.NotEmpty(t, ask(t, oldest, given(t, hosts(t, name, state)[0])), name)
	}
}

// A key without a value is one that is not there, which nmstate does not know.
func TestHostsNeverSeeKeysWithoutValues(t *testing.T) {
	t.Parallel()
	oldest := tool(t, "NMSTATE_OLDEST", "what hosts make of keys without values was not tried")
	const state = `interfaces:
- {name: eth0, type: ethernet, state: null, mtu: null, lldp: null, ethtool: null,
   ipv4: {enabled: true, dhcp: true, address: null}, ipv6: null}
- {name: eth0.5, type: vlan, state: up, vlan: {base-iface: eth0, id: 5, protocol: null}}
routes: null
route-rules: null
dns-resolver: {config: null}
`
	require.NotEmpty(t, ask(t, oldest, given(t, hosts(t, "keys without values", state)[0])))
}

// given returns the YAML of a host on a machine that uses the names of the settings.
func given(t *testing.T, host staticnet.Host) string {
	t.Helper()
	text, err := staticnet.NMState(host)
	require.NoError(t, err)
	for called, mac := range macs {
		text = bytes.ReplaceAll(text, []byte("<"+mac+">"), []byte(called))
	}
	return string(text)
}
