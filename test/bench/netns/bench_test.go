package netns_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/sim"
	"slipway/internal/wire"

	"slipway/test/bench/netlab"
)

var (
	hostCount = flag.Int("hosts", 0, "hosts of the whole bench; it is skipped without any")
	only      = flag.String("faults", "", "regular expression of the faults to inject; all when empty")
	long      = flag.Bool("long", false, "with the time-outs and pauses of a real service: an hour and more")
	service   = flag.String("slipway", "../../../bin/slipway", "service to run")
	agent     = flag.String("agent", "../../../bin/slipway-agent-"+runtime.GOARCH, "agent to run")
)

// needs skips a test where something it runs is missing.
func needs(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: network namespaces need root")
	}
	for _, path := range []string{*service, *agent} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("SKIP: this bench needs %s (make build)", filepath.Base(path))
		}
	}
	var missing []string
	for _, name := range append([]string{"unshare", "setpriv", "busybox", "chronyd", "dnsmasq", "postgres"}, hostTools...) {
		_, err := netlab.Find(name)
		if servers, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); err != nil && len(servers) == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Skipf("SKIP: this bench needs the commands %s (deploy/bench-packages netns)", strings.Join(missing, ", "))
	}
}

// bench is hosts, their network and the service they are registered with.
type bench struct {
	lan     *lan
	hosts   []*host
	client  *client.Client
	cluster uuid.UUID
	image   sim.Discovery

	mu   sync.Mutex
	last *wire.Cluster
}

// newBench starts everything and waits until the service knows all hosts.
func newBench(t *testing.T, hosts, mtu int, env ...string) *bench {
	t.Helper()
	require.LessOrEqual(t, hosts, maxHosts)
	netlab.Sweep(t)
	// Not t.TempDir: its path is too long for the database's socket, and closed to its user.
	dir, err := os.MkdirTemp("", netlab.Mine(""))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	b := &bench{}
	t.Cleanup(func() { b.clear(t, dir) })
	b.lan = newLAN(t, dir, hosts+1, mtu) // and the host that joins a cluster
	b.client = startService(t, b.lan, absolute(t, *service), env...)
	b.cluster, b.image = define(t, b.client)
	options := agentOptions{
		program: absolute(t, *agent), tools: toolFolder(t, dir), url: b.image.ServiceURL,
		infraEnv: b.image.InfraEnvID.String(), version: b.image.AgentVersion,
	}
	if hosts > crowd {
		options.clockPause = 6 // a hundred clocks that ask every second are a load of their own
	}
	begun := time.Now()
	for i := range hosts {
		h := b.lan.plug(t, i)
		h.boot(t, options)
		b.hosts = append(b.hosts, h)
	}
	go b.watch(t.Context())
	b.await(t, 5*time.Minute, "the inventories of all hosts", b.known)
	t.Logf("%d hosts are known %s after the first was started", hosts, time.Since(begun).Round(100*time.Millisecond))
	return b
}

// crowd is from how many hosts on their clocks ask less often.
const crowd = 40

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// clear removes the folder of the bench, unless it shows why a test failed.
func (b *bench) clear(t *testing.T, dir string) {
	t.Helper()
	if !t.Failed() {
		_ = os.RemoveAll(dir)
		return
	}
	for _, h := range b.hosts[:min(len(b.hosts), 3)] {
		t.Logf("%s: %s\n%s\n%s", h.name, h.lastLines("boot.log"), h.lastLines("dhcp.log"), h.lastLines("agent.log"))
	}
	kept := filepath.Join(os.TempDir(), "slipway-netns-failed") // not swept
	_ = os.RemoveAll(kept)
	t.Logf("logs are kept in %s: %v", kept, os.Rename(dir, kept))
}

// watch looks at the cluster again and again; the service may be away meanwhile.
func (b *bench) watch(ctx context.Context) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for ; ctx.Err() == nil; <-ticker.C {
		if c, err := b.client.Cluster(ctx, b.cluster); err == nil {
			b.mu.Lock()
			b.last = c
			b.mu.Unlock()
		}
	}
}

// look returns the cluster as it was last seen; nil before.
func (b *bench) look() *wire.Cluster {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// known reports whether all hosts have sent their inventory, and learns their ids.
func (b *bench) known(c *wire.Cluster) bool {
	found := 0
	for i := range c.Hosts {
		for _, h := range b.hosts {
			if c.Hosts[i].Inventory != "" && strings.Contains(c.Hosts[i].Inventory, `"hostname":"`+h.name+`"`) {
				h.id = c.Hosts[i].ID
				found++
			}
		}
	}
	return found == len(b.hosts)
}

// await looks at the cluster until something holds.
func (b *bench) await(t *testing.T, limit time.Duration, what string, holds func(*wire.Cluster) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		c := b.look()
		return c != nil && holds(c)
	}, limit, 200*time.Millisecond, "waited too long for %s: %s", what, lazy(func() string { return describe(b.look()) }))
}

// lazy is a text made when it is printed.
type lazy func() string

func (l lazy) String() string { return l() }

func describe(c *wire.Cluster) string {
	if c == nil {
		return "the service never answered"
	}
	text := fmt.Sprintf("cluster is %s (%s)\n", c.Status, c.StatusInfo)
	for _, v := range verdicts(c.ValidationsInfo) {
		if v.Status != passed {
			text += "  " + v.String() + "\n"
		}
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		text += fmt.Sprintf("  %s %s: %s (%s)\n", cmp.Or(h.RequestedHostname, h.ID.String()), h.Role, h.Status, h.StatusInfo)
		for _, v := range verdicts(h.ValidationsInfo) {
			if v.Status != passed {
				text += "    " + v.String() + "\n"
			}
		}
	}
	return text
}

// verdict is the result of a validation.
type verdict struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func (v verdict) String() string { return v.ID + " " + v.Status + ": " + v.Message }

const (
	passed  = "success"
	failed  = "failure"
	missing = "missing" // the bench's word
)

// verdicts reads validations_info (docs/reference/validation-rules.md, "Results").
func verdicts(info string) (all []verdict) {
	var categories map[string][]verdict
	if json.Unmarshal([]byte(info), &categories) != nil {
		return nil
	}
	for _, some := range categories {
		all = append(all, some...)
	}
	return all
}

// verdict finds what a validation says of a host, or of the cluster when h is nil.
func (b *bench) verdict(h *host, id string) (v verdict) {
	c := b.look()
	info := c.ValidationsInfo
	if h != nil {
		info = ""
		for i := range c.Hosts {
			if c.Hosts[i].ID == h.id {
				info = c.Hosts[i].ValidationsInfo
			}
		}
	}
	for _, v := range verdicts(info) {
		if v.ID == id {
			return v
		}
	}
	return verdict{ID: id, Status: missing}
}
