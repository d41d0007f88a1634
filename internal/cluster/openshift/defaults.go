package openshift

import (
	"net/netip"
	"slices"

	"slipway/internal/model"
)

// Settings of a cluster whose user set none (docs/reference/wire.md, "Defaults of a cluster").
const (
	DefaultNetworkType           = "OVNKubernetes"
	DefaultHostPrefixV4          = 23
	DefaultHostPrefixV6          = 64
	DefaultInactiveDeletionHours = 480
)

var (
	defaultClusterNetworks = []model.ClusterNetwork{
		{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: DefaultHostPrefixV4},
		{CIDR: netip.MustParsePrefix("fd01::/48"), HostPrefix: DefaultHostPrefixV6},
	}
	defaultServiceNetworks = []netip.Prefix{
		netip.MustParsePrefix("172.30.0.0/16"),
		netip.MustParsePrefix("fd02::/112"),
	}
	forbiddenHostnames = []string{
		"localhost", "localhost.localdomain",
		"localhost4", "localhost4.localdomain4",
		"localhost6", "localhost6.localdomain6",
	}
)

// DefaultClusterNetworks returns the pod networks of a new cluster: IPv4 first, and IPv6 after it when the cluster has both families.
func DefaultClusterNetworks(dualStack bool) []model.ClusterNetwork {
	if dualStack {
		return slices.Clone(defaultClusterNetworks)
	}
	return slices.Clone(defaultClusterNetworks[:1])
}

// DefaultServiceNetworks returns the service networks of a new cluster, like DefaultClusterNetworks.
func DefaultServiceNetworks(dualStack bool) []netip.Prefix {
	if dualStack {
		return slices.Clone(defaultServiceNetworks)
	}
	return slices.Clone(defaultServiceNetworks[:1])
}

// ForbiddenHostnames lists names no host may have, because every machine has them.
func ForbiddenHostnames() []string { return slices.Clone(forbiddenHostnames) }
