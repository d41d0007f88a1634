package validation

import (
	"time"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// HostFacts are the input of a host's rules.
type HostFacts struct {
	Host *model.Host
	// Cluster is nil while the host is unbound.
	Cluster *model.Cluster
	// Peers is the index of the cluster's hosts, this one included; nil while unbound.
	Peers *Peers
	// Requirements depend on the cluster's version; the requirements of operators are added here.
	Requirements model.RoleRequirements
	Options      Options
	Now          time.Time
}

// ClusterFacts are the input of a cluster's rules.
type ClusterFacts struct {
	Cluster *model.Cluster
	Hosts   []*model.Host
	// Peers is the index of Hosts; built when nil.
	Peers        *Peers
	Requirements model.RoleRequirements
	// CustomManifests is set when the user added manifests.
	CustomManifests bool
	// ConfigFault says why no install-config can be made with the override of the cluster, empty if one can.
	ConfigFault string
	// WaitingNetworks is set while an InfraEnv of the cluster has placeholders for the static networks of its hosts.
	WaitingNetworks bool
	Options         Options
	Now             time.Time
}

// Options are the settings of a deployment that rules depend on.
type Options struct {
	// DisconnectAfter is how long a host may be silent; BootstrapGrace is added for the bootstrap host.
	DisconnectAfter, BootstrapGrace time.Duration
	// RequiredAgent is the agent every host must run, compared as it is; empty accepts any.
	RequiredAgent string
	// RequiredFineAgent is the same for Slipway's agents.
	RequiredFineAgent string
	// SingleNodeDNS is set when the service configures DNS on single nodes itself.
	SingleNodeDNS bool
	// VIPLease is how long a DHCP server has to assign the virtual addresses.
	VIPLease time.Duration
	// EdgeProducts are product names of small workers ("BlueField SoC").
	EdgeProducts []string
	// Operators are the settings of the rules of operators.
	Operators operators.Options
	// DisabledHost and DisabledCluster are ids that are not evaluated, for clusters whose
	// user did not choose what to ignore.
	DisabledHost, DisabledCluster []string
}

// DefaultEdgeProduct is the product name of small workers where a deployment sets none.
const DefaultEdgeProduct = "BlueField SoC"

// DefaultOptions returns the options of a deployment that sets none.
func DefaultOptions() Options {
	return Options{
		DisconnectAfter: model.DefaultDisconnectAfter,
		BootstrapGrace:  model.DefaultBootstrapGrace,
		SingleNodeDNS:   true,
		VIPLease:        model.DefaultVIPLease,
		EdgeProducts:    []string{DefaultEdgeProduct},
		Operators:       operators.DefaultOptions(),
	}
}
