package agent_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

const (
	leaseRequest = `{"interface":"eth0","api_vip_mac":"02:00:00:00:00:0a","ingress_vip_mac":"02:00:00:00:00:0b","api_vip_lease":"lease {\n  fixed-address 192.0.2.50;\n}\n"}`
	leaseBound   = "bound to 192.0.2.50 -- renewal in 1800 seconds.\n"
)

// leases is a dhclient that gets an address for each name, says so and stays, as the real
// one does when it is not to go into the background. It has a lease even before it gets
// the notice that the interface is there.
func (h *host) leases(t *testing.T, addresses map[string]string) (known func() string) {
	t.Helper()
	var before []byte
	h.On("timeout 28 dhclient", func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		name := c.Args[len(c.Args)-1]
		file := h.root.Path("/etc/keepalived/lease-" + name)
		content, err := os.ReadFile(file)
		if name == "api" {
			before = content
		}
		if err == nil {
			// The interface is there from here on: its deletion succeeds.
			h.On("ip link delete "+name, hostexectest.Prints(""))
			err = os.WriteFile(
				file,
				append(content, []byte("lease {\n  interface \""+name+"\";\n  fixed-address "+addresses[name]+";\n}\n")...),
				0o644,
			)
		}
		if err != nil {
			return hostexec.Result{}, err
		}
		c.Output([]byte("DHCPACK of 192.0.2.50 from 192.0.2.1\nbound t"))
		c.Output([]byte(leaseBound[len("bound t"):]))
		return hostexectest.Hangs(ctx, c)
	})
	return func() string { return string(before) }
}

func TestVirtualAddressesAreLeased(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("ip link", hostexectest.Prints(""))
	h.On("ip link delete", hostexectest.Fails(1, "cannot find device"))
	known := h.leases(t, map[string]string{"api": "192.0.2.50", "ingress": "192.0.2.51"})
	h.start(t, s)
	s.Give("lease-1", wire.StepTypeDhcpLeaseAllocate, leaseRequest)
	reply := s.AwaitReply(t, "lease-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.JSONEq(t, `{"api_vip_address":"192.0.2.50","api_vip_lease":"lease {\n  interface \"api\";\n  fixed-address 192.0.2.50;\n}\n",
		"ingress_vip_address":"192.0.2.51","ingress_vip_lease":"lease {\n  interface \"ingress\";\n  fixed-address 192.0.2.51;\n}\n"}`,
		reply.Output)
	require.Contains(t, known(), "192.0.2.50", "the lease known to the service is asked for again")
	require.Equal(t, 1, h.Count("ip link add api link eth0 address 02:00:00:00:00:0a type macvlan"))
	require.Equal(
		t,
		1,
		h.Count(
			"timeout 28 dhclient -d -v -cf /etc/keepalived/dhclient-ingress.conf -sf /bin/true -lf /etc/keepalived/lease-ingress "+
				"--no-pid -1 ingress",
		),
	)
	settings, err := os.ReadFile(h.root.Path("/etc/keepalived/dhclient-ingress.conf"))
	require.NoError(t, err)
	require.Contains(t, string(settings), `send host-name "02-00-00-00-00-0b-ingress";`)
	require.Equal(t, 2, h.Count("ip link delete ingress"), "before and after")
}

func TestALeaseThatDoesNotComeFailsTheStep(t *testing.T) {
	t.Parallel()
	ends := func(context.Context, hostexec.Cmd) (hostexec.Result, error) { return hostexec.Result{}, nil }
	says := func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		c.Output([]byte(leaseBound))
		return hostexectest.Hangs(ctx, c)
	}
	for name, c := range map[string]struct {
		dhclient hostexectest.Answer
		removed  bool // the file of the lease
		says     string
	}{
		"no server answers":      {hostexectest.Fails(124, "timed out"), false, "lease the api address"},
		"a client that ends":     {ends, false, "require an address in the lease"},
		"a lease of no address":  {says, false, "require an address in the lease"},
		"a lease that went lost": {says, true, "read the lease"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.On("ip link", hostexectest.Prints(""))
			h.On("timeout 28 dhclient", func(ctx context.Context, cmd hostexec.Cmd) (hostexec.Result, error) {
				if c.removed {
					require.NoError(t, os.Remove(h.root.Path("/etc/keepalived/lease-api")))
				}
				return c.dhclient(ctx, cmd)
			})
			h.start(t, s)
			s.Give(
				"lease-1",
				wire.StepTypeDhcpLeaseAllocate,
				`{"interface":"eth0","api_vip_mac":"02:00:00:00:00:0a","ingress_vip_mac":"02:00:00:00:00:0b"}`,
			)
			reply := s.AwaitReply(t, "lease-1")
			require.NotZero(t, reply.ExitCode)
			require.Contains(t, reply.Error, c.says)
			require.Equal(t, 2, h.Count("ip link delete api"), "nothing is left behind")
		})
	}
}
