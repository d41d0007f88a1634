package staticnet_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// newer are keys that NetworkManager of Debian 12 (1.42) does not know yet.
var newer = []string{"prio"}

// rewritten are lines that NetworkManager leaves out because they repeat its defaults, or writes in another way.
var rewritten = []string{
	"autoconnect=true", "autoconnect-slaves=-1", "autoconnect-slaves=1", "stp=true", "auto-negotiate=false", "method=disabled",
	"addr-gen-mode=0", "addr-gen-mode=1",
	"flags=1", "tap=false", "learning=true", "multicast-snooping=true", "vlan-filtering=false", "vlan-default-pvid=1",
	"dhcp-send-hostname=true",
	"ignore-auto-dns=false", "ignore-auto-routes=false", "never-default=false", "may-fail=true", "multicast-querier=false",
	"multicast-query-use-ifaddr=false",
	"promiscuous=true", "token=::10", "vlan-protocol=802.1Q", "type=802-3-ethernet",
}

// manager asks NetworkManager to read a connection, and returns its reading.
func manager(t *testing.T, content string) (understood, complaints string, err error) {
	t.Helper()
	nmcli, err := exec.LookPath("nmcli")
	if err != nil {
		t.Skip("SKIP: nmcli is not installed (Debian: network-manager), the keyfiles were compared with golden ones only")
	}
	// Without a connection to change nmcli reads one from its input, and refuses an unreadable one.
	command := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.zone", "lab")
	command.Stdin = strings.NewReader(content)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	return string(out), stderr.String(), err
}

func TestNetworkManagerReadsTheKeyfiles(t *testing.T) {
	t.Parallel()
	for state, text := range examples(t) {
		for name, content := range keyfiles(t, text) {
			understood, complaints, err := manager(t, string(content))
			require.NoError(t, err, "%s: %s: %s\n%s", state, name, complaints, content)
			require.Empty(t, complaints, "%s: %s\n%s", state, name, content)
			requireKept(t, string(content), understood, state+": "+name)
		}
	}
}

// requireKept makes sure that NetworkManager has understood each line: it leaves unknown lines out.
func requireKept(t *testing.T, sent, got, name string) {
	t.Helper()
	for line := range strings.Lines(sent) {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		if !found || slices.Contains(rewritten, line) || slices.Contains(newer, key) {
			continue
		}
		kept := slices.ContainsFunc(slices.Collect(strings.Lines(strings.ToLower(got))), func(candidate string) bool {
			other, rest, _ := strings.Cut(strings.TrimSpace(candidate), "=")
			return number.ReplaceAllString(other, "") == number.ReplaceAllString(key, "") &&
				slices.Equal(words(rest), words(strings.ToLower(value)))
		})
		require.True(t, kept, "%s: %s is not in\n%s", name, line, got)
	}
}

// number is where a key is in a series, which NetworkManager counts from 1.
var number = regexp.MustCompile(`[0-9]+(_|$)`)

// words returns the content of a value, whatever the order and the way to write it.
func words(value string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(";, =", r) }) {
		word = strings.TrimSuffix(strings.TrimSuffix(word, "/32"), "/128")
		if word == "32/48" {
			word = "0x20/0x30"
		}
		if word != "0.0.0.0" && word != "::" {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return out
}

// NetworkManager would refuse bad settings at boot, unnoticed: they have to be refused when they are given.
func TestWhatNetworkManagerRefusesIsRefusedBefore(t *testing.T) {
	t.Parallel()
	bond := func(mode, options string) (state, keyfile string) {
		lines := strings.NewReplacer(", ", "\n", ": ", "=").Replace(options)
		return "interfaces: [{name: b, type: bond, link-aggregation: {mode: " + mode + ", port: [eth0], options: {" + options + "}}}]",
			"[connection]\nid=b\nuuid=925b4a95-2de0-5b2d-bcf5-8b684a7e9cb4\ntype=bond\ninterface-name=b\n[bond]\nmode=" + mode + "\n" + lines + "\n"
	}
	for name, c := range map[string]struct{ mode, options string }{
		"a primary port without a place for it":      {"balance-rr", "primary: eth0"},
		"a primary port in a mode with equal ports":  {"802.3ad", "primary: eth0"},
		"a rate of LACP without LACP":                {"active-backup", "lacp_rate: fast"},
		"watching hosts that are not named":          {"active-backup", "arp_interval: 100"},
		"hosts to watch but never":                   {"active-backup", "arp_ip_target: 192.0.2.1"},
		"watching hosts in a mode that cannot":       {"balance-tlb", "arp_interval: 100, arp_ip_target: 192.0.2.1"},
		"announcements in two numbers":               {"active-backup", "num_grat_arp: 2, num_unsol_na: 3"},
		"an invalid address":                         {"active-backup", "arp_interval: 100, arp_ip_target: here"},
		"both ways to watch a link in a mode of one": {"balance-alb", "miimon: 100, arp_interval: 100"},
	} {
		state, keyfile := bond(c.mode, c.options)
		_, err := staticnet.Parse(config(t, state))
		require.ErrorContains(t, err, "link-aggregation", name)
		_, _, err = manager(t, keyfile)
		require.Error(t, err, "%s: NetworkManager takes it", name)
	}
}
