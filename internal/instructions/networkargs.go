package instructions

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"slipway/internal/validation"
	"slipway/internal/wire"
)

// Ports and paths of the machine config server of an existing cluster.
const (
	machineConfigPort = 22624
	workerPool        = "worker"
)

func apiVIPArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	host := "api." + in.Cluster.Name + "." + in.Cluster.BaseDNSDomain
	if len(in.Cluster.APIVIPs) > 0 {
		host = in.Cluster.APIVIPs[0].IP.String()
	}
	pool := workerPool
	if in.Host.MachineConfigPoolName != "" {
		pool = in.Host.MachineConfigPoolName
	}
	return one(wire.APIVipConnectivityRequest{
		URL: fmt.Sprintf("http://%s/config/%s", net.JoinHostPort(host, fmt.Sprint(machineConfigPort)), pool),
	})
}

func leaseArgs(in *ArgsInput) ([]string, error) {
	c := in.Cluster
	if c == nil || !c.VIPDHCPAllocation || len(c.MachineNetworks) == 0 || in.Host.Inventory == nil {
		return nil, ErrSkip
	}
	for _, nic := range validation.NICs(in.Host.Inventory) {
		if slices.ContainsFunc(nic.Addresses, func(a netip.Prefix) bool { return c.MachineNetworks[0].Contains(a.Addr()) }) {
			return one(wire.DhcpAllocationRequest{
				Interface:     nic.Name,
				APIVipMac:     vipMAC(c.ID.String(), "api"),
				IngressVipMac: vipMAC(c.ID.String(), "ingress"),
			})
		}
	}
	return nil, ErrSkip
}

// vipMAC is a locally administered address that stays the same for a cluster, so that
// every host asks for the same lease.
func vipMAC(clusterID, name string) string {
	sum := sha256.Sum256([]byte(clusterID + "/" + name))
	mac := net.HardwareAddr(sum[:6])
	mac[0] = mac[0]&^0x01 | 0x02 // unicast, locally administered
	return mac.String()
}
