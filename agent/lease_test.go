package agent_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

const (
	knownLease   = `lease {\n  fixed-address 192.0.2.50;\n}\n`
	leaseRequest = `{"interface":"eth0","api_vip_mac":"02:00:00:00:00:0a","ingress_vip_mac":"02:00:00:00:00:0b","api_vip_lease":"` +
		knownLease + `"}`
)

// leases is a DHCP server: an address for each interface. Without one it never answers.
type leases struct {
	host      *host
	addresses map[string]string
	asked     []string
}

func (l *leases) Lease(ctx context.Context, nic, hostname, known string) (string, netip.Addr, error) {
	l.asked = append(l.asked, nic+" "+hostname+" "+known)
	// The interface is there from here on: its deletion succeeds.
	l.host.On("ip link delete "+nic, hostexectest.Prints(""))
	address, is := l.addresses[nic]
	if !is {
		<-ctx.Done()
		return "", netip.Addr{}, context.Cause(ctx)
	}
	return "lease {\n  interface \"" + nic + "\";\n  fixed-address " + address + ";\n}\n", netip.MustParseAddr(address), nil
}

// leasing lets the host of an agent lease addresses.
func (h *host) leasing(addresses map[string]string) (*leases, func(*agent.Options)) {
	l := &leases{host: h, addresses: addresses}
	h.On("ip link", hostexectest.Prints(""))
	h.On("ip link delete", hostexectest.Fails(1, "cannot find device"))
	return l, func(o *agent.Options) { o.Platform.Leases = l }
}

func TestVirtualAddressesAreLeased(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	server, with := h.leasing(map[string]string{"api": "192.0.2.50", "ingress": "192.0.2.51"})
	h.start(t, s, with)
	s.Give("lease-1", wire.StepTypeDhcpLeaseAllocate, leaseRequest)
	reply := s.AwaitReply(t, "lease-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.JSONEq(t, `{"api_vip_address":"192.0.2.50","api_vip_lease":"lease {\n  interface \"api\";\n  fixed-address 192.0.2.50;\n}\n",
		"ingress_vip_address":"192.0.2.51","ingress_vip_lease":"lease {\n  interface \"ingress\";\n  fixed-address 192.0.2.51;\n}\n"}`,
		reply.Output)
	require.Equal(t, []string{
		"api 02-00-00-00-00-0a-api lease {\n  fixed-address 192.0.2.50;\n}\n", "ingress 02-00-00-00-00-0b-ingress ",
	}, server.asked, "the lease known to the service is asked for again")
	require.Equal(t, 1, h.Count("ip link add api link eth0 address 02:00:00:00:00:0a type macvlan"))
	require.Equal(t, 2, h.Count("ip link delete ingress"), "before and after")
}

func TestALeaseThatDoesNotComeLeavesNoInterface(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	_, with := h.leasing(nil)
	first := h.start(t, s, with)
	s.Give("lease-1", wire.StepTypeDhcpLeaseAllocate, leaseRequest)
	s.Wait(t, "the interface", func() bool { return h.Count("ip link set api up") == 1 })
	first.stop(t)
	require.Equal(t, 2, h.Count("ip link delete api"), "nothing is left behind")
}

func TestALeaseOfNoInterfaceFailsTheStep(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	_, with := h.leasing(nil)
	h.On("ip link add", hostexectest.Fails(2, "Cannot find device \"eth0\""))
	h.start(t, s, with)
	s.Give("lease-1", wire.StepTypeDhcpLeaseAllocate, leaseRequest)
	reply := s.AwaitReply(t, "lease-1")
	require.NotZero(t, reply.ExitCode)
	require.Contains(t, reply.Error, "lease the api address")
	require.Equal(t, 1, h.Count("ip link delete api"), "there is nothing to delete")
}
