package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/support"
	"slipway/internal/wire"
)

// V2GetClusterDefaultConfig tells what a new cluster gets when its user says nothing.
func (s *server) V2GetClusterDefaultConfig(w http.ResponseWriter, r *http.Request) {
	pods, services := support.DefaultClusterNetworks(true), support.DefaultServiceNetworks(true)
	out := wire.ClusterDefaultConfig{
		ClusterNetworkCidr: pods[0].CIDR.String(), ClusterNetworkHostPrefix: pods[0].HostPrefix,
		ServiceNetworkCidr: services[0].String(), InactiveDeletionHours: support.DefaultInactiveDeletionHours,
		ForbiddenHostnames: support.ForbiddenHostnames(),
	}
	for _, n := range pods {
		out.ClusterNetworksDualstack = append(out.ClusterNetworksDualstack, wire.ClusterNetwork{Cidr: n.CIDR.String(), HostPrefix: n.HostPrefix})
	}
	for _, n := range services {
		out.ServiceNetworksDualstack = append(out.ServiceNetworksDualstack, wire.ServiceNetwork{Cidr: n.String()})
	}
	out.ClusterNetworksIpv4, out.ServiceNetworksIpv4 = out.ClusterNetworksDualstack[:1], out.ServiceNetworksDualstack[:1]
	ok(w, r, out, nil)
}

// V2GetPreflightRequirements tells what hosts must have to take part in a cluster.
func (s *server) V2GetPreflightRequirements(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		fail(w, r, err)
		return
	}
	required := s.Requirements.For(c.OpenShiftVersion)
	master := required.Master
	if c.SingleNode() {
		master = required.SNO
	}
	ok(w, r, wire.PreflightHardwareRequirements{
		Ocp: wire.HostTypeHardwareRequirementsWrapper{
			Master: requirementsToWire(master), Worker: requirementsToWire(required.Worker),
		},
		Operators: []wire.OperatorHardwareRequirements{},
	}, nil)
}

func requirementsToWire(q model.Requirements) wire.HostTypeHardwareRequirements {
	return wire.HostTypeHardwareRequirements{Quantitative: wire.ClusterHostRequirementsDetails{
		CPUCores: q.CPUCores, RAMMib: int(q.RAMMiB), DiskSizeGb: int(q.DiskSizeGB),
		InstallationDiskSpeedThresholdMs: q.DiskSpeedMS,
		NetworkLatencyThresholdMs:        q.NetworkLatencyMS, PacketLossPercentage: q.PacketLossPercent,
	}}
}
