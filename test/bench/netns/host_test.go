package netns_test

import (
	_ "embed"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/test/bench/netlab"
)

var (
	//go:embed host.sh
	hostScript string
	//go:embed dhcp.sh
	dhcpScript string
)

// hostTools are the commands that agents find on a host.
var hostTools = []string{"ping", "ip", "chronyc", "findmnt"}

// host is one machine of the bench.
type host struct {
	*netlab.Space
	index   int
	name    string
	address netip.Addr
	dir     string
	port    string    // its end of the cable in the namespace of the network
	agent   *exec.Cmd // set by boot, and what boots it again
	reboot  func() error
	id      uuid.UUID // set by the first look at the cluster that has it
}

// plug makes a host and connects it; it is off.
func (l *lan) plug(t *testing.T, i int) *host {
	t.Helper()
	h := &host{
		Space: netlab.NewSpace(t, hostName(i)), index: i, name: hostName(i), address: hostAddress(i),
		dir: filepath.Join(l.dir, hostName(i)), port: fmt.Sprintf("v%d", i+1),
	}
	require.NoError(t, l.All(
		fmt.Sprintf("link add %s mtu %d type veth peer name eth0 mtu %d address %s netns %s", h.port, l.mtu, l.mtu, hostMAC(i), h.Name),
		"link set "+h.port+" master br0 up",
	))
	plant(t, filepath.Join(h.dir, "root"), i)
	return h
}

// agentOptions are an agent's settings, as the discovery image has them.
type agentOptions struct {
	program, tools, url, infraEnv, version string
	clockPause                             int // seconds between two questions to a time server, as a power of 2
}

// boot starts the host: DHCP, its clock daemon and its agent.
func (h *host) boot(t *testing.T, o agentOptions) {
	t.Helper()
	conf := fmt.Sprintf(
		"server %[1]s iburst minpoll %[3]d maxpoll %[3]d\nserver %[2]s iburst minpoll %[3]d maxpoll %[3]d\n",
		gateway,
		secondClock,
		o.clockPause,
	) +
		"bindcmdaddress /run/chrony/chronyd.sock\ncmdport 0\npidfile /run/chrony/chronyd.pid\nuser root\n"
	for name, content := range map[string]string{
		"host.sh": hostScript, "dhcp.sh": dhcpScript, "chrony.conf": conf, "resolv.conf": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(h.dir, name), []byte(content), 0o755))
	}
	start := func() {
		h.agent = h.Start(t, filepath.Join(h.dir, "boot.log"), []string{
			"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "NAME=" + h.name, "DIR=" + h.dir, "TOOLS=" + o.tools, "AGENT=" + o.program,
			"URL=" + o.url,
			"INFRA_ENV=" + o.infraEnv, "AGENT_VERSION=" + o.version,
		}, "unshare", "--mount", "--uts", "--propagation", "private", "/bin/sh", filepath.Join(h.dir, "host.sh"))
	}
	h.reboot = func() error {
		netlab.End(h.agent)
		err := os.RemoveAll(h.place("/run/slipway-agent")) // a boot empties it
		start()
		return err
	}
	start()
}

// place returns where a file of the host's hardware tree is.
func (h *host) place(path string) string { return filepath.Join(h.dir, "root", path) }

// write changes the host's hardware tree.
func (h *host) write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(h.place(path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(h.place(path), []byte(content), 0o644)
}

// useDNS makes the host ask another name server.
func (h *host) useDNS(address string) error {
	// In place: the file is mounted into the host.
	return os.WriteFile(filepath.Join(h.dir, "resolv.conf"), []byte("nameserver "+address+"\n"), 0o644)
}

// toolFolder makes a folder with the commands of a host and no others: this machine's other commands would show agents its own hardware.
func toolFolder(t *testing.T, dir string) string {
	t.Helper()
	folder := filepath.Join(dir, "tools")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, name := range hostTools {
		path, err := netlab.Find(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(folder, name)))
	}
	return folder
}

// lastLines returns the end of a log of the host.
func (h *host) lastLines(log string) string {
	content, _ := os.ReadFile(filepath.Join(h.dir, log))
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}
