package cluster_test

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/netlab"
	"slipway/test/bench/vm"
)

// site is the network of the machines: a bridge in a network namespace, with DHCP, DNS
// and time.
type site struct {
	*netlab.Space
	dir string
}

func newSite(t *testing.T, dir string, s shape) *site {
	t.Helper()
	l := &site{Space: netlab.NewSpace(t, "vm"), dir: dir}
	require.NoError(t, l.All("link add br0 type bridge", "addr add "+gateway+"/24 dev br0", "link set br0 up"))
	api, ingress := apiVIP, ingressVIP
	if s.singleNode() { // its network is the user's: the names lead to the node
		api = s.hosts()[0].address.String()
		ingress = api
	}
	args := []string{
		"--local=/" + baseDomain + "/",
		"--host-record=api." + domain + "," + api, "--host-record=api-int." + domain + "," + api,
		"--address=/apps." + domain + "/" + ingress,
		"--dhcp-authoritative", "--dhcp-range=" + gateway + ",static", "--dhcp-leasefile=" + filepath.Join(dir, "leases"),
		"--dhcp-option=option:router," + gateway, "--dhcp-option=option:ntp-server," + gateway,
	}
	for _, h := range s.hosts() {
		tap := tapOf(h)
		require.NoError(t, l.All("tuntap add "+tap+" mode tap", "link set "+tap+" master br0", "link set "+tap+" up"))
		if *network == "dhcp" {
			args = append(args, fmt.Sprintf("--dhcp-host=%s,%s,%s", vm.MAC(h.number), h.address, h.name))
		}
	}
	l.DNSMasq(t, filepath.Join(dir, "dnsmasq.log"), gateway, args...)
	netlab.NewClock(t, l.Space, gateway)
	return l
}

// tapOf returns the interface that a machine's cable leads to.
func tapOf(h hostPlan) string { return "tap" + fmt.Sprint(h.number) }

// listen opens a port of the gateway.
func (l *site) listen(t *testing.T, port string) net.Listener {
	t.Helper()
	return l.Listen(t, "tcp", net.JoinHostPort(gateway, port))
}
