package staticnet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// named are network states of which the map has eth0 only, or eth0 and eth1; NIC stands for another name.
var named = map[string]string{
	"an interface": "interfaces:\n- {name: eth0, type: ethernet, state: up}\n- name: NIC\n  type: ethernet\n  state: up\n" +
		"  ipv4: {enabled: false}\n",
	"a port of a bond": "interfaces:\n- name: bond0\n  type: bond\n  state: up\n" +
		"  link-aggregation: {mode: active-backup, port: [eth0, NIC]}\n  ipv4: {enabled: true, dhcp: true}\n",
	"the base of a VLAN": "interfaces:\n- {name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}\n" +
		"- {name: v5, type: vlan, state: up, vlan: {base-iface: NIC, id: 5}}\n",
	"a port of a bridge": "interfaces:\n- name: br0\n  type: linux-bridge\n  state: up\n" +
		"  bridge: {port: [{name: eth0}, {name: NIC}]}\n  ipv4: {enabled: true, dhcp: true}\n",
}

func TestPredictableNamesNeedNoEntryInTheMap(t *testing.T) {
	t.Parallel()
	for place, state := range named {
		for _, name := range []string{
			"eno1", "eno12399np0", "ens2f0", "ens1f1np1", "enp3s0", "enp65s0f0np0", "enP2p1s0", "enP3s1f0", "enx525400aabb07", "encc000", "ena1i1",
			"env3", "eni0np1", "end0", "enX0", "enu1u2", "enb1",
			"enp3s0f1np1d1", "ens1f0v3", "ens3u2u1i2", "enp0s20f0u1u2", "enP49154p1s0", "enP1p8s0f0np0",
		} {
			t.Run(name+" as "+place, func(t *testing.T) {
				t.Parallel()
				files := keyfiles(t, strings.ReplaceAll(state, "NIC", name))
				file := string(files[name+".nmconnection"])
				require.Contains(t, file, "\ninterface-name="+name+"\n")
				require.NotContains(t, file, "mac-address=")
				understood, complaints, err := manager(t, file)
				require.NoError(t, err, complaints)
				require.Contains(t, understood, "\ninterface-name="+name+"\n")
			})
		}
		for _, name := range []string{
			"eth7", "enable", "em1", "en1", "enq1", "port1", "enp3s0.5", "enp65535s255f255np255", "en", "p1p1", "ib0",
			"ibp3s0", "wlp2s0",
		} {
			t.Run("but not "+name+" as "+place, func(t *testing.T) {
				t.Parallel()
				_, err := staticnet.Parse(config(t, strings.ReplaceAll(state, "NIC", name)))
				require.ErrorIs(t, err, model.ErrInvalid)
				require.ErrorContains(t, err, "in mac_interface_map")
			})
		}
	}
}

func TestPredictableNamesDoNotIdentifyAHost(t *testing.T) {
	t.Parallel()
	_, err := staticnet.Parse(`[{"network_yaml": "interfaces:\n- {name: eno1, type: ethernet, state: up}", "mac_interface_map": []}]`)
	require.ErrorContains(t, err, "mac_interface_map: the MAC address of at least one interface is required")
}

func TestScriptLeavesPredictableNamesAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, staticnet.MethodKeyfiles, crossed, strings.ReplaceAll(named["a port of a bond"], "NIC", "ens2f0"))
	out, err := m.run("sh")
	require.NoError(t, err, out)
	require.Contains(t, m.connection("ens2f0"), "\ninterface-name=ens2f0\n")
}

func TestNMStateKeepsPredictableNames(t *testing.T) {
	t.Parallel()
	hosts, err := staticnet.Parse(config(t, strings.ReplaceAll(named["a port of a bond"], "NIC", "ens2f0")))
	require.NoError(t, err)
	files, err := staticnet.Files(hosts, staticnet.MethodNMState)
	require.NoError(t, err)
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/network.yml") {
			require.Contains(t, string(f.Content), "- ens2f0\n")
			return
		}
	}
	require.Fail(t, "there is no network.yml")
}
