// Package nmstate_test compares the keyfiles of internal/staticnet with the real nmstate's, which people know
// from other installers and which hosts run by themselves from OpenShift 4.18 on.
package nmstate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// macs are the interfaces of the one host that all states are for.
var macs = map[string]string{"eth0": "52:54:00:aa:bb:01", "eth1": "52:54:00:aa:bb:02"}

// files are keyfiles by name, sections and keys.
type files map[string]map[string]map[string]string

func TestKeyfilesAreThoseOfNMState(t *testing.T) {
	t.Parallel()
	oracle := tool(t, "NMSTATE_ORACLE", "keyfiles were compared with golden ones only")
	used := map[string]bool{}
	states := states(t)
	require.GreaterOrEqual(t, len(states), 40)
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			theirs, ours := ask(t, oracle, state), keyfiles(t, name, state)
			for _, d := range differences {
				if d.settle(theirs, ours) {
					used[d.name] = true
				}
			}
			require.Equal(t, theirs, ours)
		})
	}
	for _, d := range differences {
		require.True(t, used[d.name], "%s: no state differs like this any more", d.name)
	}
}

// tool returns a program that is built by the Makefile and named by the environment.
func tool(t *testing.T, variable, otherwise string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("SKIP: %s is not set (make test builds it), %s", variable, otherwise)
	}
	return path
}

// states maps names to network states.
func states(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "states", "*.yaml"))
	require.NoError(t, err)
	out := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		out[strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".yaml"), "-", " ")] = string(content)
	}
	return out
}

// config makes static_network_config of the API for one host.
func config(t *testing.T, state string) string {
	t.Helper()
	var list []map[string]string
	for _, name := range slices.Sorted(keysOf(macs)) {
		list = append(list, map[string]string{"logical_nic_name": name, "mac_address": macs[name]})
	}
	text, err := json.Marshal([]any{map[string]any{"network_yaml": state, "mac_interface_map": list}})
	require.NoError(t, err)
	return string(text)
}

func hosts(t *testing.T, name, state string) []staticnet.Host {
	t.Helper()
	hosts, err := staticnet.Parse(config(t, state))
	require.NoError(t, err, name)
	require.Len(t, hosts, 1)
	return hosts
}

func keyfiles(t *testing.T, name, state string) files {
	t.Helper()
	made, err := staticnet.Keyfiles(hosts(t, name, state)[0])
	require.NoError(t, err, name)
	out := files{}
	for file, content := range made {
		out[file] = parse(string(content))
	}
	return out
}

// ask gives what the real nmstate makes of a state.
func ask(t *testing.T, oracle, state string) files {
	t.Helper()
	command := exec.CommandContext(t.Context(), oracle)
	command.Stdin = strings.NewReader(state)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	require.NoError(t, err, "%s\n%s", complaints.String(), state)
	var made map[string]string
	require.NoError(t, json.Unmarshal(text, &made))
	out := files{}
	for file, content := range made {
		out[file] = parse(content)
	}
	return out
}

// parse reads a keyfile. An empty section says nothing in keyfiles, so it is left out.
func parse(text string) map[string]map[string]string {
	out, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, value, isKey := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case isKey && out[section] == nil:
			out[section] = map[string]string{key: value}
		case isKey:
			out[section][key] = value
		}
	}
	return out
}
