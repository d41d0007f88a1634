package staticnet_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

var update = flag.Bool("update", false, "write golden files again")

// config makes static_network_config of the API with the same two interfaces for every state.
func config(t testing.TB, states ...string) string {
	t.Helper()
	var list []any
	for i, state := range states {
		mac := func(nic string) map[string]string {
			return map[string]string{
				"mac_address":      "52:54:00:AA:B" + string(rune('B'-i)) + ":0" + nic,
				"logical_nic_name": "eth" + map[string]string{"1": "0", "2": "1"}[nic],
			}
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

// states are the network states that the real nmstate is asked about as well.
const states = "../../../test/nmstate/testdata/states"

// examples returns the states by their subject.
func examples(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(states, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		out[strings.TrimSuffix(filepath.Base(path), ".yaml")] = string(content)
	}
	return out
}

func example(t *testing.T, name string) string { return read(t, states, name+".yaml") }

func keyfiles(t *testing.T, state string) map[string][]byte {
	t.Helper()
	hosts, err := staticnet.Parse(config(t, state))
	require.NoError(t, err, state)
	require.Len(t, hosts, 1)
	files, err := staticnet.Keyfiles(hosts[0])
	require.NoError(t, err)
	return files
}

// together joins all keyfiles of a host, each after its name.
func together(files map[string][]byte) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "# %s\n%s\n", name, files[name])
	}
	return out.String()
}

func TestStatesBecomeKeyfiles(t *testing.T) {
	t.Parallel()
	for name, state := range examples(t) {
		golden, got := filepath.Join("testdata", "keyfiles", name+".txt"), together(keyfiles(t, state))
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			continue
		}
		require.Equal(t, read(t, golden), got, name)
	}
}

// bomb is less than what a host may have, and gigabytes once its aliases are replaced.
var bomb = "interfaces: []\ndns-resolver: {config: {search: [&a \"" + strings.Repeat(
	"x",
	100_000,
) + "\"" + strings.Repeat(
	",*a",
	40_000,
) + "]}}\n"

func TestStatesThatGrowBeyondReasonAreRefused(t *testing.T) {
	t.Parallel()
	_, err := staticnet.Parse(config(t, bomb))
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "static_network_config[0].network_yaml: ")
	require.ErrorContains(t, err, "after aliases are replaced")
}

func TestKeyfilesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	state := example(t, "a-VLAN-on-a-bond")
	first := keyfiles(t, state)
	require.Equal(
		t,
		[]string{"bond0.404.nmconnection", "bond0.nmconnection", "eth0.nmconnection", "eth1.nmconnection"},
		slices.Sorted(maps.Keys(first)),
	)
	for range 5 {
		require.Equal(t, first, keyfiles(t, state))
	}
}

func FuzzParse(f *testing.F) {
	for _, state := range examples(f) {
		f.Add(state)
	}
	f.Fuzz(func(t *testing.T, state string) {
		hosts, err := staticnet.Parse(config(t, state))
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		for _, how := range []staticnet.Method{staticnet.MethodKeyfiles, staticnet.MethodNMState} {
			files, err := staticnet.Files(hosts, how)
			require.NoError(t, err)
			for _, file := range files {
				require.NotContains(t, file.Path, "..", "a file leaves its folder")
			}
		}
		for name, content := range keyfiles(t, state) {
			for line := range strings.Lines(string(content)) {
				require.Regexp(t, `^($|\[[a-z0-9-]+\]$|[a-z0-9._-]+=\S)`, strings.TrimSuffix(line, "\n"), "%s has a line of its own", name)
			}
		}
	})
}
