package steps_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
	"slipway/internal/wire"
	"slipway/test/bench/netlab"
)

// Addresses of the hosts' network.
const (
	gateway     = "10.67.0.1" // also the service, and what else a test has there
	hostAddress = "10.67.0.11"
	hostIPv6    = "fd67::11"
	gatewayIPv6 = "fd67::1"
	gatewayMAC  = "52:54:67:ff:00:01"
	serviceURL  = "http://" + gateway + ":8090"
)

// lan is the network of a test: a namespace with a bridge.
type lan struct {
	*netlab.Space
	dir   string
	ports int
}

//go:embed host.sh
var hostScript string

// host is a machine with an agent.
type host struct {
	*netlab.Space
	*service
	lan     *lan
	dir     string
	program string
	// restarts: the host starts an agent that ended again, as its unit does.
	restarts bool
	bootSize string    // of /boot, which is read-only then; of an installed host
	journal  bool      // the host has one
	asked    int       // steps, by ask
	agent    *exec.Cmd // set by boot
}

// newHost makes a network with a service and one host, whose agent is not started yet.
// Names are short: they become names of namespaces.
func newHost(t *testing.T, name string, tools ...string) *host {
	t.Helper()
	program := needs(t, tools...)
	dir, err := os.MkdirTemp("", netlab.Mine(name))
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := &lan{Space: netlab.NewSpace(t, name+"-lan"), dir: dir}
	require.NoError(t, l.All(
		"link add br0 type bridge", "link set br0 address "+gatewayMAC, "addr add "+gateway+"/24 dev br0",
		"addr add "+gatewayIPv6+"/64 dev br0 nodad", "link set br0 up",
	))
	h := &host{
		Space: l.plug(t, name, hostAddress, hostIPv6), service: newService(t, l), lan: l, dir: dir,
		program: filepath.Join(dir, "slipway-agent"),
	}
	require.NoError(t, h.IP("route", "add", "default", "via", gateway))
	// The agent puts its next version beside itself.
	require.NoError(t, os.Link(program, h.program))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "host.sh"), []byte(hostScript), 0o755))
	h.nameServer(t, gateway)
	return h
}

// plug makes a namespace with an interface in the network.
func (l *lan) plug(t *testing.T, name string, addresses ...string) *netlab.Space {
	t.Helper()
	s := netlab.NewSpace(t, name)
	l.ports++
	port := fmt.Sprintf("v%d", l.ports)
	require.NoError(t, l.All(
		fmt.Sprintf("link add %s type veth peer name eth0 address 52:54:67:00:00:%02x netns %s", port, l.ports, s.Name),
		"link set "+port+" master br0 up",
	))
	require.NoError(t, s.IP("link", "set", "eth0", "up"))
	for _, address := range addresses {
		bits := "/24"
		if strings.Contains(address, ":") {
			bits = "/64"
		}
		require.NoError(t, s.IP("addr", "add", address+bits, "dev", "eth0", "nodad"))
	}
	return s
}

// nameServer says whom the host asks for names.
func (h *host) nameServer(t *testing.T, address string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "resolv.conf"), []byte("nameserver "+address+"\n"), 0o644))
}

// start starts the host and waits until its agent has registered.
func (h *host) start(t *testing.T, arguments ...string) {
	t.Helper()
	before := len(h.Seen().Registrations)
	h.boot(t, arguments...)
	h.Wait(t, "a registration", func() bool { return len(h.Registrations) > before })
}

// boot starts the host. It has the commands of a folder of its own, then the commands of this machine, or of RHEL CoreOS alone.
func (h *host) boot(t *testing.T, arguments ...string) {
	t.Helper()
	log := filepath.Join(h.dir, "agent.log")
	t.Cleanup(func() {
		if t.Failed() {
			content, _ := os.ReadFile(log)
			t.Logf("the agent's log:\n%s", content)
		}
	})
	arguments = append([]string{
		"--mount", "--propagation", "private", "/bin/sh", filepath.Join(h.dir, "host.sh"), h.program,
		"--url", serviceURL, "--infra-env-id", agenttest.EnvID.String(), "--host-id", agenttest.HostID.String(),
	}, arguments...)
	h.agent = h.Start(t, log, []string{
		"DIR=" + h.dir, "RESTART=" + yes(h.restarts), "JOURNAL=" + yes(h.journal), "BOOT_SIZE=" + h.bootSize, "PULL_SECRET_TOKEN=" + token,
		"PATH=" + filepath.Join(h.dir, "bin") + ":" + h.searchPath(t),
	}, "unshare", arguments...)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// enter runs a command on the running host.
func (h *host) enter(name string, args ...string) error {
	return netlab.Command("nsenter", append([]string{"--target", strconv.Itoa(h.agent.Process.Pid), "--mount", "--net", name}, args...)...)
}

// place returns where a file of the running host is.
func (h *host) place(path string) string {
	return filepath.Join("/proc", strconv.Itoa(h.agent.Process.Pid), "root", path)
}

// command puts a command before the machine's commands.
func (h *host) command(t *testing.T, name, script string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "bin", name), []byte("#!/bin/sh\n"+script), 0o755))
}

// ask commands a step and waits for its reply.
func (h *host) ask(t *testing.T, kind wire.StepType, args ...string) wire.StepReply {
	t.Helper()
	h.asked++
	id := fmt.Sprintf("%s-%d", kind, h.asked)
	h.Give(id, kind, args...)
	return h.AwaitReply(t, id)
}

// answer returns the output of a step that must succeed.
func answer[Output any](t *testing.T, h *host, kind wire.StepType, args ...string) (output Output) {
	t.Helper()
	reply := h.ask(t, kind, args...)
	require.Zero(t, reply.ExitCode, reply.Error)
	require.NoError(t, json.Unmarshal([]byte(reply.Output), &output), reply.Output)
	return output
}

// argument returns the one argument of a step.
func argument(t *testing.T, request any) string {
	t.Helper()
	text, err := json.Marshal(request)
	require.NoError(t, err)
	return string(text)
}

// processes lists the command lines of the processes in the namespace, without the agent's.
func (h *host) processes(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, pid := range h.Processes(t) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if text := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")); text != "" &&
			!strings.HasPrefix(text, h.dir+"/slipway-agent") {
			lines = append(lines, text)
		}
	}
	return lines
}
