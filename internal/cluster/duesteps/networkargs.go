package duesteps

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net"
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/wire"
)

func apiVIPArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	authorities := document.Authorities(in.Cluster, in.Host)
	request := wire.APIVipConnectivityRequest{
		URL:                   in.Cluster.NodeConfigURL(in.Host, len(authorities) > 0),
		CaCertificate:         base64.StdEncoding.EncodeToString(authorities),
		IgnitionEndpointToken: in.Host.IgnitionEndpointToken.Reveal(),
	}
	for _, name := range slices.Sorted(maps.Keys(in.Host.IgnitionEndpointHeaders)) {
		request.RequestHeaders = append(request.RequestHeaders, wire.APIVipConnectivityAdditionalRequestHeader{
			Key: name, Value: in.Host.IgnitionEndpointHeaders[name].Reveal(),
		})
	}
	return one(request)
}

func leaseArgs(in *ArgsInput) ([]string, error) {
	c := in.Cluster.Effective()
	if c == nil || !c.VIPDHCPAllocation || len(c.MachineNetworks) == 0 || in.Host.Inventory == nil {
		return nil, ErrSkip
	}
	for _, nic := range hardware.NICs(in.Host.Inventory) {
		if slices.ContainsFunc(nic.Addresses, func(a netip.Prefix) bool { return c.MachineNetworks[0].Contains(a.Addr()) }) {
			return one(wire.DhcpAllocationRequest{
				Interface:     nic.Name,
				APIVipMac:     VIPMAC(c.ID, "api"),
				IngressVipMac: VIPMAC(c.ID, "ingress"),
				APIVipLease:   c.APIVIPLease, IngressVipLease: c.IngressVIPLease,
			})
		}
	}
	return nil, ErrSkip
}

// VIPMAC makes the locally administered address a cluster asks a DHCP server with for a virtual address; name is "api" or "ingress". It
// stays the same for a cluster, so that every host asks for the same lease; hosts that hold the address later use it too.
func VIPMAC(clusterID uuid.UUID, name string) string {
	sum := sha256.Sum256([]byte(clusterID.String() + "/" + name))
	mac := net.HardwareAddr(sum[:6])
	mac[0] = mac[0]&^0x01 | 0x02 // unicast, locally administered
	return mac.String()
}
