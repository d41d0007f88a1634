package staticnet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// shells run the script: the live system's own, and a minimal one.
var shells = []string{"sh", "bash", "busybox sh"}

// machine is a place with the interfaces of one machine, for the script.
type machine struct {
	t                                           *testing.T
	root                                        string
	how                                         staticnet.Method
	settings, connections, interfaces, programs string
}

// newMachine has the settings of two hosts and interfaces by their addresses.
func newMachine(t *testing.T, how staticnet.Method, interfaces map[string]string, states ...string) *machine {
	t.Helper()
	root := t.TempDir()
	m := &machine{
		t,
		root,
		how,
		filepath.Join(root, "settings"),
		filepath.Join(root, "connections"),
		filepath.Join(root, "net"),
		filepath.Join(root, "bin"),
	}
	for name, mac := range interfaces {
		m.write(filepath.Join(m.interfaces, name, "address"), mac+"\n", 0o600)
	}
	files, err := staticnet.Files(parse(t, states...), how)
	require.NoError(t, err)
	for _, file := range files {
		m.write(
			filepath.Join(m.settings, strings.TrimPrefix(file.Path, staticnet.Folder)),
			string(file.Content),
			0o644,
		) // the script sets the mode
	}
	return m
}

func (m *machine) write(path, content string, mode os.FileMode) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte(content), mode))
}

// nmstatectl writes a program that prints what the real one did (2.2.62), without asking.
func (m *machine) nmstatectl(script string) {
	m.t.Helper()
	m.write(filepath.Join(m.programs, "nmstatectl"), "#!/bin/sh\n"+script, 0o700)
}

func (m *machine) run(shell string) (string, error) {
	m.t.Helper()
	script := filepath.Join(m.t.TempDir(), "script.sh")
	m.write(script, string(staticnet.Script(m.how)), 0o600)
	words := append(strings.Fields(shell), script, m.settings, m.connections, m.interfaces, "0")
	if _, err := exec.LookPath(words[0]); err != nil {
		m.t.Skipf("SKIP: %s is not installed", words[0])
	}
	command := exec.CommandContext(m.t.Context(), words[0], words[1:]...) //nolint:gosec // the shells above
	command.Env = []string{"PATH=" + m.programs + ":/usr/bin:/bin:/usr/sbin:/sbin", "TMPDIR=" + m.t.TempDir(), "SLIPWAY_ROOT=" + m.root}
	out, err := command.CombinedOutput()
	return string(out), err
}

func (m *machine) connection(name string) string {
	m.t.Helper()
	path := filepath.Join(m.connections, name+".nmconnection")
	info, err := os.Stat(path)
	require.NoError(m.t, err)
	require.Equal(m.t, os.FileMode(0o600), info.Mode(), "NetworkManager refuses files that others can read")
	return read(m.t, path)
}

func eachShell(t *testing.T, test func(t *testing.T, shell string)) {
	t.Helper()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			test(t, shell)
		})
	}
}

func TestScriptTakesTheSettingsOfTheMachineItRunsOn(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		bond := example(t, "a-VLAN-on-a-bond")
		m := newMachine(
			t,
			staticnet.MethodKeyfiles,
			map[string]string{"lo": "00:00:00:00:00:00", "ens1": "52:54:00:aa:ba:02"},
			example(t, "DHCP-for-IPv4"),
			bond,
		)
		out, err := m.run(shell)
		require.NoError(t, err, out)
		require.Contains(t, out, "network settings of host1 are in place: 4 connections")
		require.Contains(t, out, "host1 has network settings of interfaces that this machine lacks")
		for _, name := range []string{"bond0", "bond0.404", "eth0", "eth1"} {
			require.Equal(t, read(t, m.settings, "host1", name+".nmconnection"), m.connection(name))
		}
		entries, err := os.ReadDir(m.connections)
		require.NoError(t, err)
		require.Len(t, entries, 4)
	})
}

// In an initramfs there are connections that want every interface, made without being configured.
func TestScriptReplacesWhatAnInitramfsMadeUp(t *testing.T) {
	t.Parallel()
	for _, initramfs := range []bool{true, false} {
		m := newMachine(t, staticnet.MethodKeyfiles, crossed, example(t, "DHCP-for-IPv4"))
		m.write(filepath.Join(m.connections, "default_connection.nmconnection"), "[connection]\n", 0o600)
		if initramfs {
			m.write(filepath.Join(m.root, "etc", "initrd-release"), "", 0o600)
		}
		out, err := m.run("sh")
		require.NoError(t, err, out)
		require.NotEmpty(t, m.connection("eth0"))
		_, err = os.Stat(filepath.Join(m.connections, "default_connection.nmconnection"))
		require.Equal(t, initramfs, os.IsNotExist(err), "an administrator's stay in the live system")
	}
}

// Some live images keep nmstatectl where it cannot be taken out for an initramfs.
func TestInitramfsWithoutNmstatectlTakesConnections(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		m := newMachine(t, staticnet.MethodNMState, crossed, namesInValues)
		archive, err := staticnet.MinimalInitrd(parse(t, namesInValues), model.Proxy{}, staticnet.MethodNMState, 0)
		require.NoError(t, err)
		for path, content := range unpack(t, archive) {
			m.write(filepath.Join(m.root, "initramfs", path), content, 0o600)
		}
		words := append(strings.Fields(shell), filepath.Join(m.root, "initramfs", staticnet.ScriptPath),
			filepath.Join(m.root, "initramfs", staticnet.Folder), m.connections, m.interfaces, "0")
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Skipf("SKIP: %s is not installed", words[0])
		}
		command := exec.CommandContext(t.Context(), words[0], words[1:]...) //nolint:gosec // the shells above
		command.Env = []string{"PATH=/usr/bin:/bin"}
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "network settings of host0 are in place")
		require.Contains(t, m.connection("bond0"), "primary=eth1", "names come from the machine")
	})
}

func TestScriptKeepsWhatThereIsWhenItFails(t *testing.T) {
	t.Parallel()
	m := newMachine(t, staticnet.MethodNMState, crossed, namesInValues)
	m.write(filepath.Join(m.root, "etc", "initrd-release"), "", 0o600)
	m.write(filepath.Join(m.connections, "default_connection.nmconnection"), "[connection]\n", 0o600)
	m.nmstatectl("exit 1")
	_, err := m.run("sh")
	require.Error(t, err)
	require.NotEmpty(t, m.connection("default_connection"), "some network is better than none")
}

func TestScriptLeavesAMachineNobodyKnowsAlone(t *testing.T) {
	t.Parallel()
	for _, how := range []staticnet.Method{staticnet.MethodKeyfiles, staticnet.MethodNMState} {
		m := newMachine(t, how, map[string]string{"lo": "00:00:00:00:00:00"}, example(t, "DHCP-for-IPv4"))
		out, err := m.run("sh")
		require.NoError(t, err, out)
		require.Contains(t, out, "no network settings for this machine")
		require.NoDirExists(t, m.connections)
	}
}

// crossed is a machine that calls each interface what the settings call the other one.
var crossed = map[string]string{"eth1": "52:54:00:aa:bb:01", "eth0": "52:54:00:aa:bb:02"}

const namesInValues = `
interfaces:
- {name: bond0, type: bond, link-aggregation: {mode: active-backup, options: {primary: eth0, miimon: 100}, port: [eth0, eth1]},
   ipv4: {enabled: true, dhcp: true}}
- {name: d0, type: dummy, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}}
route-rules: {config: [{ip-from: 192.0.2.0/24, iif: d0, route-table: 5}, {ip-to: 192.0.2.9, iif: bond0, route-table: 5}]}
`

func TestScriptPutsTheMachinesNamesWhereAddressesAreOfNoUse(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		m := newMachine(t, staticnet.MethodKeyfiles, crossed, namesInValues)
		out, err := m.run(shell)
		require.NoError(t, err, out)
		require.Contains(t, m.connection("bond0"), "\nprimary=eth1\n")
		require.Contains(t, m.connection("d0"), "routing-rule0=priority 30000 from 192.0.2.0/24 iif d0 table 5\n")
		require.Contains(t, m.connection("bond0"), "routing-rule0=priority 30001 to 192.0.2.9/32 iif bond0 table 5\n")
	})
}

func TestScriptPutsTheMachinesNamesIntoRules(t *testing.T) {
	t.Parallel()
	state := "interfaces:\n- {name: eth0, type: ethernet, ipv4: {enabled: true, dhcp: true}}\nroute-rules: {config: [{ip-from: " +
		"192.0.2.0/24, iif: eth0, route-table: 5}]}"
	m := newMachine(t, staticnet.MethodKeyfiles, crossed, state)
	out, err := m.run("sh")
	require.NoError(t, err, out)
	require.Contains(t, m.connection("eth0"), "routing-rule0=priority 30000 from 192.0.2.0/24 iif eth1 table 5\n")
}

func TestScriptPrefersHardwareToWhatRunsOverIt(t *testing.T) {
	t.Parallel()
	m := newMachine(
		t,
		staticnet.MethodKeyfiles,
		map[string]string{"br0": "52:54:00:aa:bb:01", "ens1": "52:54:00:aa:bb:01", "ens2": "52:54:00:aa:bb:01"},
		namesInValues,
	)
	require.NoError(t, os.Mkdir(filepath.Join(m.interfaces, "ens1", "device"), 0o700))
	// ens2 is a port of a bond, which shows the bond's address.
	m.write(filepath.Join(m.interfaces, "ens2", "bonding_slave", "perm_hwaddr"), "52:54:00:aa:bb:02\n", 0o600)
	out, err := m.run("sh")
	require.NoError(t, err, out)
	require.Contains(t, m.connection("bond0"), "\nprimary=ens1\n")
	require.NotContains(t, out, "lacks", "both interfaces are there")
}

const printed = `[ "$1" = gc ] || exit 2
cp "$2" "$0.got"
cat <<'END'
NetworkManager:
- - bond0.nmconnection
  - |
    [connection]
    id=bond0

    [bond]
    mode=active-backup
- - 'eth1.nmconnection'
  - |
    [connection]
    id=eth1
END
`

func TestScriptHasNMStateMakeConnections(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		m := newMachine(t, staticnet.MethodNMState, crossed, namesInValues)
		m.nmstatectl(printed)
		out, err := m.run(shell)
		require.NoError(t, err, out)
		require.Contains(t, out, "network settings of host0 are in place: 2 connections")
		require.Equal(t, "[connection]\nid=bond0\n\n[bond]\nmode=active-backup\n", m.connection("bond0"))
		require.Equal(t, "[connection]\nid=eth1\n", m.connection("eth1"))
		given := read(t, m.programs, "nmstatectl.got")
		require.Contains(t, given, "port:\n    - eth1\n    - eth0\n")
		require.Contains(t, given, "primary: eth1\n")
		require.NotContains(t, given, "<")
	})
}

func TestScriptNamesWhatIsNotThereLikeNothingElse(t *testing.T) {
	t.Parallel()
	m := newMachine(t, staticnet.MethodNMState, map[string]string{"eth1": "52:54:00:aa:bb:01"}, namesInValues)
	m.nmstatectl(printed)
	out, err := m.run("sh")
	require.NoError(t, err, out)
	require.Contains(t, read(t, m.programs, "nmstatectl.got"), "port:\n    - eth1\n    - x525400aabb02\n")
}

func TestScriptIsLoudWhenSettingsAreNotInPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ program, want string }{
		"nmstatectl refuses the settings": {
			"echo 'InvalidArgument: no mode' >&2; exit 1", "nmstatectl refused them: InvalidArgument: no mode",
		},
		"nmstatectl prints nothing":        {"exit 0", "nmstatectl made no connections"},
		"nmstatectl prints something else": {"echo hello", "nmstatectl printed what is no connection: hello"},
		"nmstatectl prints texts without key": {
			"printf 'NetworkManager:\n- - a.nmconnection\n  - |\n    hello\n'", "nmstatectl printed what is no connection: hello",
		},
		"nmstatectl leaves its folder": {
			"printf 'NetworkManager:\n- - ../a.nmconnection\n  - |\n    [connection]\n'", "the name ../a.nmconnection",
		},
	} {
		m := newMachine(t, staticnet.MethodNMState, crossed, namesInValues)
		m.nmstatectl(c.program)
		out, err := m.run("sh")
		require.Error(t, err, name)
		require.Contains(t, out, "NETWORK SETTINGS OF THIS MACHINE ARE NOT IN PLACE: ", name)
		require.Contains(t, out, c.want, name)
	}
	m := newMachine(t, staticnet.MethodNMState, crossed, namesInValues)
	m.write(filepath.Join(m.programs, "sh"), "", 0o600) // an empty folder of programs
	out, err := m.run("sh")
	require.Error(t, err)
	require.Contains(t, out, "there is no nmstatectl")
}
