package validation

import (
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// HostFacts are what the rules of one host see.
type HostFacts struct {
	Host *model.Host
	// Cluster is nil while the host is unbound.
	Cluster *model.Cluster
	// Peers is the index of the cluster's hosts, this one included; nil while unbound.
	Peers *Peers
	// Requirements are those of the cluster's version, additions of operators included.
	Requirements model.RoleRequirements
	// IgnitionDownload is the reply of the api-vip-connectivity-check of a day-2 host; nil before.
	IgnitionDownload *wire.APIVipConnectivityResponse
	// Tang is the reply of the tang-connectivity-check; nil before.
	Tang    *wire.TangConnectivityResponse
	Options Options
	Now     time.Time
}

// ClusterFacts are what the rules of a cluster see.
type ClusterFacts struct {
	Cluster *model.Cluster
	Hosts   []*model.Host
	// Peers is the index of Hosts; built when nil.
	Peers        *Peers
	Requirements model.RoleRequirements
	// CustomManifests is set when the user added manifests.
	CustomManifests bool
	// Fencing is set when the control plane hosts have fencing credentials.
	Fencing bool
	Options Options
	Now     time.Time
}

// Options are the settings of a deployment that rules depend on.
type Options struct {
	// DisconnectAfter is how long a host may be silent (default 3 min);
	// BootstrapGrace is added for the bootstrap host (default 2 min).
	DisconnectAfter, BootstrapGrace time.Duration
	// RequiredAgent is the agent every host must run, compared as it is; empty takes any.
	RequiredAgent string
	// SingleNodeDNS is set when the service configures DNS on single nodes itself.
	SingleNodeDNS bool
	// EdgeProducts are product names of small workers ("BlueField SoC").
	EdgeProducts []string
}

// DefaultOptions are the contract's.
func DefaultOptions() Options {
	return Options{
		DisconnectAfter: 3 * time.Minute,
		BootstrapGrace:  2 * time.Minute,
		SingleNodeDNS:   true,
		EdgeProducts:    []string{"BlueField SoC"},
	}
}
