package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// V2GetClusterDefaultConfig returns the default settings of a new cluster.
func (s *server) V2GetClusterDefaultConfig(w http.ResponseWriter, r *http.Request) error {
	pods, services := openshift.DefaultClusterNetworks(true), openshift.DefaultServiceNetworks(true)
	inactive := openshift.DefaultInactiveDeletionHours
	if s.InactiveAfter > 0 {
		inactive = int(s.InactiveAfter.Hours())
	}
	out := wire.ClusterDefaultConfig{
		ClusterNetworkCidr: pods[0].CIDR.String(), ClusterNetworkHostPrefix: pods[0].HostPrefix,
		ServiceNetworkCidr: services[0].String(), InactiveDeletionHours: inactive,
		ForbiddenHostnames: openshift.ForbiddenHostnames(),
	}
	for _, n := range pods {
		out.ClusterNetworksDualstack = append(
			out.ClusterNetworksDualstack,
			wire.ClusterNetwork{Cidr: n.CIDR.String(), HostPrefix: n.HostPrefix},
		)
	}
	for _, n := range services {
		out.ServiceNetworksDualstack = append(out.ServiceNetworksDualstack, wire.ServiceNetwork{Cidr: n.String()})
	}
	out.ClusterNetworksIpv4, out.ServiceNetworksIpv4 = out.ClusterNetworksDualstack[:1], out.ServiceNetworksDualstack[:1]
	return ok(w, out)
}

// V2GetPreflightRequirements returns the hardware requirements of hosts of a cluster.
func (s *server) V2GetPreflightRequirements(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	required := s.Requirements.For(c.OpenShiftVersion)
	master := required.Master
	if c.SingleNode() {
		master = required.SNO
	}
	out := preflight{Ocp: wire.HostTypeHardwareRequirementsWrapper{
		Master: requirementsToWire(master), Worker: requirementsToWire(required.Worker),
	}}
	plan := operators.NewPlan(c, nil)
	for _, o := range operators.All() {
		var entry operatorPreflight
		entry.Name, entry.Dependencies = o.Name, orEmpty(o.DependenciesIn(c))
		entry.Requirements.Master, entry.Requirements.Worker = needsToWire(plan.Preflight(o))
		out.Operators = append(out.Operators, entry)
	}
	return ok(w, out)
}

// preflight is preflight-hardware-requirements of the document, with its empty parts: clients read the numbers of every operator
// without looking whether there are any.
type preflight struct {
	Ocp       wire.HostTypeHardwareRequirementsWrapper `json:"ocp"`
	Operators []operatorPreflight                      `json:"operators"`
}

type operatorPreflight struct {
	Name         string   `json:"operator_name"`
	Dependencies []string `json:"dependencies"`
	Requirements struct {
		Master needPreflight `json:"master"`
		Worker needPreflight `json:"worker"`
	} `json:"requirements"`
}

type needPreflight struct {
	Qualitative  []string `json:"qualitative"`
	Quantitative struct {
		CPUCores int   `json:"cpu_cores,omitempty"`
		RAMMiB   int64 `json:"ram_mib,omitempty"`
	} `json:"quantitative"`
}

func needsToWire(master, worker operators.Need) (m, w needPreflight) {
	one := func(n operators.Need) (out needPreflight) {
		out.Qualitative = orEmpty(n.Also)
		out.Quantitative.CPUCores, out.Quantitative.RAMMiB = n.CPUCores, n.RAMMiB
		return out
	}
	return one(master), one(worker)
}

func requirementsToWire(q model.Requirements) wire.HostTypeHardwareRequirements {
	return wire.HostTypeHardwareRequirements{Qualitative: []string{}, Quantitative: wire.ClusterHostRequirementsDetails{
		CPUCores: q.CPUCores, RAMMib: int(q.RAMMiB), DiskSizeGb: int(q.DiskSizeGB),
		InstallationDiskSpeedThresholdMs: q.DiskSpeedMS,
		NetworkLatencyThresholdMs:        q.NetworkLatencyMS, PacketLossPercentage: q.PacketLossPercent,
	}}
}
