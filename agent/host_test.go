package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/agent/agenttest"
	"slipway/agent/inventory"
	"slipway/installer"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

const token = "the-pull-secret-token"

// host is a machine in the live image. Its pauses take no time, but are remembered.
type host struct {
	*hostexectest.Host
	root  hostexec.Root
	links []inventory.Link
	names names
	stations

	mu     sync.Mutex
	pauses []time.Duration
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{Host: hostexectest.New(nil), root: hostexec.Root(t.TempDir()), names: names{}}
	h.write(t, "/proc/sys/kernel/random/boot_id", "boot-1\n")
	h.write(t, "/proc/sys/kernel/hostname", "master-0\n")
	h.write(t, "/dev/sda", "0123456789")
	h.links = []inventory.Link{
		{Name: "lo", Flags: net.FlagUp | net.FlagLoopback, Addresses: prefixes("127.0.0.1/8")},
		{
			Name:      "eth0",
			MAC:       net.HardwareAddr{2, 0, 0, 0, 0, 1},
			MTU:       9000,
			Flags:     net.FlagUp,
			Addresses: prefixes("192.0.2.10/24", "2001:db8::10/64"),
		},
		{Name: "eth1", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, MTU: 1500, Flags: net.FlagUp, Addresses: prefixes("169.254.0.1/16")},
	}
	return h
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// awaitClosed waits until the agent has written down that the service has the reply to a step.
func (h *host) awaitClosed(t *testing.T, step string) {
	t.Helper()
	await.True(t, func() bool {
		files, _ := filepath.Glob(h.root.Path(agent.DefaultStateDir + "/*/*"))
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err == nil && strings.Contains(string(content), `{"id":"`+step+`","state":"closed"`) {
				return true
			}
		}
		return false
	}, step+" is not closed")
}

func (h *host) Links() ([]inventory.Link, error)   { return h.links, nil }
func (h *host) Routes() ([]inventory.Route, error) { return nil, nil }

func (h *host) write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(h.root.Path(path)), 0o755))
	require.NoError(t, os.WriteFile(h.root.Path(path), []byte(content), 0o644))
}

// sleep lets a moment pass in place of d.
func (h *host) sleep(ctx context.Context, d time.Duration) error {
	h.mu.Lock()
	h.pauses = append(h.pauses, d)
	h.mu.Unlock()
	return hostexec.Sleep(ctx, min(d, time.Millisecond))
}

func (h *host) slept() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]time.Duration{}, h.pauses...)
}

// stations are the machines on the links of a host, by "address on interface from address": the
// MAC addresses that answer. Where that is "error" the link cannot be asked.
type stations map[string][]string

func (s stations) Ask(_ context.Context, nic string, source netip.Addr, addresses []netip.Addr) (map[netip.Addr][]string, error) {
	found := map[netip.Addr][]string{}
	for _, address := range addresses {
		macs, is := s[fmt.Sprintf("%s on %s from %s", address, nic, source)]
		if is && slices.Contains(macs, "error") {
			return nil, errors.New("invalid hardware address")
		}
		if is {
			found[address] = macs
		}
	}
	return found, nil
}

// speeds maps the path of a disk to its speed; the disk /dev/slow never answers.
type speeds map[string]time.Duration

func (s speeds) SyncLatency(ctx context.Context, path string) (time.Duration, error) {
	if path == "/dev/slow" {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if latency, is := s[path]; is {
		return latency, nil
	}
	return 0, os.ErrNotExist
}

// names holds the records of a name server: addresses of names, names of addresses, and with a
// leading "=" the canonical name.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(n[name]); err == nil {
		return []netip.Addr{address}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (n names) LookupCNAME(_ context.Context, name string) (string, error) {
	if canonical := n["="+name]; canonical != "" {
		return canonical, nil
	}
	return name + ".", nil
}

func (n names) LookupAddr(_ context.Context, address string) ([]string, error) {
	if name := n[address]; name != "" {
		return []string{name}, nil
	}
	return nil, errors.New("no such address")
}

// running is an agent that runs.
type running struct {
	cancel context.CancelFunc
	done   chan error
}

// start runs an agent of the host until the test ends or it is stopped.
func (h *host) start(t *testing.T, s *service, changes ...func(*agent.Options)) *running {
	t.Helper()
	options := agent.Options{
		Client: client.New(
			client.Options{BaseURL: s.URL, Token: token, AgentVersion: "1.0"},
		), InfraEnvID: agenttest.EnvID, HostID: agenttest.HostID,
		Platform: agent.Platform{
			Root: h.root, Runner: h.Host, Links: h, Neighbours: h.stations, DiskSpeed: speeds{"/dev/sda": 7900 * time.Microsecond},
			Resolver: h.names, Now: time.Now, Sleep: h.sleep,
			Kube: func([]byte) (installer.Kube, error) { return nil, errors.New("no control plane here") },
		},
		Log: slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&options)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- agent.New(options).Run(ctx) }()
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop ends the agent as a kill would: what runs is lost.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	require.NoError(t, await.Receive(t, r.done, "the agent does not end"))
	r.done <- nil
}

// installArgs returns the argument of the steps of an installation.
func installArgs(t *testing.T, role wire.HostRole, controlPlane int) string {
	t.Helper()
	text, err := json.Marshal(wire.InstallCmdRequest{
		ClusterID: agenttest.ClusterID, InfraEnvID: agenttest.EnvID, HostID: agenttest.HostID, Role: role, ControlPlaneCount: controlPlane,
		BootDevice: "/dev/sda",
	})
	require.NoError(t, err)
	return string(text)
}
