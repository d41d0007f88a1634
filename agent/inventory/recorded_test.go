package inventory_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"slipway/agent/bmc"
	"slipway/agent/inventory"
	"slipway/agent/smart"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

// recorded is a machine of testdata/hosts, a txtar archive. They are written after the
// layout of the kernel and udev, not captured from machines. A section is
//
//	a/folder/    a line for each entry: "name = content", "name -> target", "name/"
//	a/file       the content of a file
//	$ command    what the command prints; "exit N" alone in the first line is its exit code
//	health       the verdicts of the disks, a line "/dev/sda = {"passed":true}" for each
//	ipmi         what the management controller answers: a line "0c 02: 01 03 00 00 = 11 c6
//	             33 64 0b" for each command (function, number, data), in hexadecimal
//
// The content "@mbr" is a boot sector, "@zero" an empty one, "@hex 06 00" those bytes,
// "@smbios 16384 0" the tables of firmware with a memory module of 16 GiB and an empty slot. The
// links and routes are the JSON of the ip commands.
type recorded struct {
	files    tree
	ipmi     map[string]string
	health   verdicts
	commands map[string]hostexectest.Answer
	printed  map[string]string
}

func record(t *testing.T, path string) recorded {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, archive.Comment, "a shape says what it is")
	r := recorded{files: tree{}, commands: map[string]hostexectest.Answer{}, printed: map[string]string{}}
	for _, section := range archive.Files {
		text := string(section.Data)
		switch command, isCommand := strings.CutPrefix(section.Name, "$ "); {
		case isCommand:
			r.commands[command], r.printed[command] = answer(t, text), text
		case section.Name == "ipmi":
			r.ipmi = table(t, text)
		case section.Name == "health":
			r.health.known = table(t, text)
		case strings.HasSuffix(section.Name, "/"):
			r.folder(t, "/"+section.Name, text)
		default:
			r.files["/"+section.Name] = text
		}
	}
	return r
}

// answer returns a command's answer: its output, also when it ends with an exit code.
func answer(t *testing.T, text string) hostexectest.Answer {
	t.Helper()
	code := 0
	if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "exit ") {
		_, err := fmt.Sscanf(first, "exit %d", &code)
		require.NoError(t, err)
		text = rest
	}
	return func(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		if code != 0 {
			return hostexec.Result{Stdout: text}, &hostexec.ExitError{Cmd: c.String(), Code: code}
		}
		return hostexec.Result{Stdout: text}, nil
	}
}

func (r recorded) folder(t *testing.T, folder, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, target, isLink := strings.Cut(line, " -> "); isLink {
			r.files[folder+name] = "-> " + target
			continue
		}
		if strings.HasSuffix(line, "/") {
			r.files[folder+line] = ""
			continue
		}
		name, content, found := strings.Cut(line, " = ")
		require.True(t, found, "%s: %q", folder, line)
		r.files[folder+name] = contentOf(t, content)
	}
}

func contentOf(t *testing.T, text string) string {
	t.Helper()
	switch {
	case text == "@mbr":
		return strings.Repeat("\x00", 510) + "\x55\xAA"
	case text == "@zero":
		return strings.Repeat("\x00", 512)
	case strings.HasPrefix(text, "@smbios "):
		var sizes []int
		for _, size := range strings.Fields(text)[1:] {
			mebibytes, err := strconv.Atoi(size)
			require.NoError(t, err)
			sizes = append(sizes, mebibytes)
		}
		return smbios(sizes...)
	case strings.HasPrefix(text, "@hex "):
		bytes, err := hex.DecodeString(strings.ReplaceAll(text[len("@hex "):], " ", ""))
		require.NoError(t, err)
		return string(bytes)
	}
	return text + "\n" // as the kernel ends its values
}

func (r recorded) plant(t *testing.T) hostexec.Root {
	t.Helper()
	return r.files.plant(t)
}

func (r recorded) machine(t *testing.T) inventory.Machine {
	t.Helper()
	links := network{links: r.links(t), routes: slices.Concat(r.routes(t, "ip -json route"), r.routes(t, "ip -6 -json route"))}
	return inventory.Machine{
		Root: r.plant(t), Runner: hostexectest.New(r.commands), Links: links, BMC: bmc.Controller{Open: r.openIPMI}, Health: &r.health,
	}
}

// table reads lines "key = value".
func table(t *testing.T, text string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(strings.TrimSpace(line), " = ")
		require.True(t, found, line)
		values[key] = value
	}
	return values
}

// verdicts holds the verdicts of a machine's disks.
type verdicts struct {
	known map[string]string
	asked []string
}

// Health implements inventory.Health.
func (v *verdicts) Health(_ context.Context, path string) (verdict smart.Verdict, err error) {
	v.asked = append(v.asked, path)
	text, is := v.known[path]
	if !is {
		return verdict, smart.ErrNoVerdict
	}
	return verdict, json.Unmarshal([]byte(text), &verdict)
}

func (r recorded) openIPMI() (bmc.Device, error) {
	if r.ipmi == nil {
		return nil, os.ErrNotExist
	}
	return r, nil
}

// Ask implements bmc.Device. What is not recorded is refused: a parameter or channel that
// the controller does not have.
func (r recorded) Ask(_ context.Context, c bmc.Command) ([]byte, error) {
	const parameterOutOfRange = 0xc9
	answer, is := r.ipmi[fmt.Sprintf("% x: % x", []byte{c.Function, c.Number}, c.Data)]
	if !is {
		return nil, bmc.CompletionError(parameterOutOfRange)
	}
	return hex.DecodeString(strings.ReplaceAll(answer, " ", ""))
}

// Close implements bmc.Device.
func (recorded) Close() error { return nil }

// ipFlags maps the flags of ip to Go's.
var ipFlags = map[string]net.Flags{
	"UP": net.FlagUp, "BROADCAST": net.FlagBroadcast, "MULTICAST": net.FlagMulticast, "LOOPBACK": net.FlagLoopback,
	"LOWER_UP": net.FlagRunning,
}

func (r recorded) links(t *testing.T) []inventory.Link {
	t.Helper()
	var answers []struct {
		Name      string   `json:"ifname"`
		Flags     []string `json:"flags"`
		MTU       int      `json:"mtu"`
		Address   string   `json:"address"`
		Permanent string   `json:"permaddr"`
		Master    string   `json:"master"`
		Info      struct {
			Kind string `json:"info_kind"`
		} `json:"linkinfo"`
		Addresses []struct {
			Local  string `json:"local"`
			Length int    `json:"prefixlen"`
		} `json:"addr_info"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.printed["ip -details -json address"]), &answers))
	var links []inventory.Link
	for _, a := range answers {
		link := inventory.Link{Name: a.Name, MTU: a.MTU, Type: "device"}
		if a.Info.Kind != "" {
			link.Type = a.Info.Kind
		}
		mac, err := net.ParseMAC(a.Address)
		require.NoError(t, err)
		link.MAC = mac
		if a.Permanent != "" {
			link.MAC, err = net.ParseMAC(a.Permanent)
			require.NoError(t, err)
		}
		if !strings.HasPrefix(a.Master, "bond") && !bytes.Equal(link.MAC, mac) {
			link.Current = mac
		}
		for _, flag := range a.Flags {
			link.Flags |= ipFlags[flag]
		}
		link.HasCarrier = link.Flags&net.FlagRunning != 0
		for _, address := range a.Addresses {
			link.Addresses = append(link.Addresses, netip.MustParsePrefix(fmt.Sprintf("%s/%d", address.Local, address.Length)))
		}
		links = append(links, link)
	}
	return links
}

func (r recorded) routes(t *testing.T, command string) []inventory.Route {
	t.Helper()
	var answers []struct {
		To      string     `json:"dst"`
		Gateway netip.Addr `json:"gateway"`
		Device  string     `json:"dev"`
		Metric  int        `json:"metric"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.printed[command]), &answers))
	everywhere := map[bool]string{false: "0.0.0.0/0", true: "::/0"}[strings.Contains(command, "-6")]
	var routes []inventory.Route
	for _, a := range answers {
		if a.To == "default" {
			a.To = everywhere
		}
		to, err := netip.ParsePrefix(a.To)
		if err != nil { // a single address has no length
			single := netip.MustParseAddr(a.To)
			to = netip.PrefixFrom(single, single.BitLen())
		}
		routes = append(routes, inventory.Route{Interface: a.Device, Destination: to, Gateway: a.Gateway, Metric: a.Metric})
	}
	return routes
}

// shapes reads the recorded machines, by name.
func shapes(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "hosts", "*.txtar"))
	require.NoError(t, err)
	all := map[string]string{}
	for _, path := range paths {
		all[strings.TrimSuffix(filepath.Base(path), ".txtar")] = path
	}
	return all
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
