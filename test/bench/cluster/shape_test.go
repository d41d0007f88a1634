package cluster_test

import (
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/vm"
)

var (
	shapeName = flag.String("shape", "", "cluster to install: sno, compact or ha; without it nothing is installed")
	firmware  = flag.String("firmware", string(vm.BIOS), "BIOS or UEFI")
	network   = flag.String("network", "dhcp", "how hosts get their addresses: dhcp or static")
	route     = flag.String("route", "direct", "how hosts reach the registry: direct, or by a mirror behind a proxy with no other route")
	faultList = flag.String("faults", "", "what goes wrong, separated by commas: "+strings.Join(faultNames(), ", "))
	program   = flag.String("slipway", "../../../bin/slipway", "service to run")
)

// The addresses of the network, and what the cluster is called.
const (
	gateway    = "10.88.0.1" // also Slipway, DNS, a time server, the registry and the payload
	apiVIP     = "10.88.0.5"
	ingressVIP = "10.88.0.6"
	name       = "bench"
	baseDomain = "bench.example"
	domain     = name + "." + baseDomain
)

// hostPlan is a machine.
type hostPlan struct {
	name    string
	number  int // see vm.Options; also the end of its address
	master  bool
	address netip.Addr
}

// shape lists the machines of a cluster.
type shape struct {
	name             string
	masters, workers int
	// What an emulated machine of either kind has.
	masterMiB, workerMiB, processors int
}

var shapes = []shape{
	{"sno", 1, 0, 5120, 0, 2},
	{"compact", 3, 0, 4096, 0, 1},
	{"ha", 3, 2, 3584, 2048, 1},
}

// The first master and the first worker, by the ends of their addresses.
const (
	firstMaster = 11
	firstWorker = 21
)

// wanted returns the shape that the flag asks for.
func wanted(t *testing.T) shape {
	t.Helper()
	if *shapeName == "" {
		t.Skip("SKIP: whole clusters are installed by `make bench-vm SHAPE=sno|compact|ha`")
	}
	at := slices.IndexFunc(shapes, func(s shape) bool { return s.name == *shapeName })
	require.GreaterOrEqual(t, at, 0, "require sno, compact or ha, found %q", *shapeName)
	require.Contains(t, []string{"dhcp", "static"}, *network)
	require.Contains(t, []string{"direct", "mirror"}, *route)
	require.Contains(t, []string{string(vm.BIOS), string(vm.UEFI)}, *firmware)
	return shapes[at]
}

func (s shape) singleNode() bool { return s.masters == 1 }

func (s shape) hosts() (all []hostPlan) {
	add := func(role string, count, first int, master bool) {
		for i := range count {
			address := netip.AddrFrom4([4]byte{10, 88, 0, byte(first + i)})
			all = append(all, hostPlan{fmt.Sprintf("%s-%d", role, i), first + i, master, address})
		}
	}
	add("master", s.masters, firstMaster, true)
	add("worker", s.workers, firstWorker, false)
	return all
}
