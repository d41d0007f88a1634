package validation

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Names of a cluster that hosts resolve (docs/reference/validation-rules.md, "Names of a
// cluster").
const (
	apiLabel      = "api"
	apiIntLabel   = "api-int"
	appsLabel     = "console-openshift-console.apps"
	wildcardLabel = "validateNoWildcardDNS"
)

func apiName(c *model.Cluster) string    { return clusterDomain(apiLabel, c) }
func apiIntName(c *model.Cluster) string { return clusterDomain(apiIntLabel, c) }
func appsName(c *model.Cluster) string   { return clusterDomain(appsLabel, c) }

func clusterDomain(label string, c *model.Cluster) string {
	return strings.Join([]string{label, c.Name, c.BaseDNSDomain}, ".")
}

// ClusterDomains lists the names a host is asked to resolve, in the contract's order: api, api-int, console, and a name that must not
// exist, with and without the final dot. Nil while the cluster has no name or domain.
func ClusterDomains(c *model.Cluster) []string {
	if c.Name == "" || c.BaseDNSDomain == "" {
		return nil
	}
	wildcard := clusterDomain(wildcardLabel, c)
	return []string{apiName(c), apiIntName(c), appsName(c), wildcard + ".", wildcard}
}

// resolves makes the rule that a name of the cluster resolves to another address than the host's own.
func resolves(name func(*model.Cluster) string) func(*hostCase) verdict {
	return func(c *hostCase) verdict {
		switch {
		case c.Cluster.Imported && c.importedConfig() == nil:
			return pending("Whether the cluster manages its networking is not known yet")
		case c.managedNetworking():
			return success("Networking is managed, the cluster resolves its own names")
		case c.singleNode() && c.Options.SingleNodeDNS:
			return success("The node resolves the names of the cluster itself")
		case c.Cluster.BaseDNSDomain == "":
			return broken("Require a base DNS domain, found none")
		case c.Host.DomainResolution == nil:
			return broken("Require the host to resolve the names of the cluster, it has not yet")
		}
		return c.resolved(name(c.Cluster))
	}
}

// managedNetworking reports whether the cluster resolves its own names; for an imported cluster the
// configuration of its workers shows that.
func (c *hostCase) managedNetworking() bool {
	if c.Cluster.Imported {
		return readWorkerIgnition(c.importedConfig().Ignition).managesNetworking()
	}
	return !c.Cluster.UserManagedNetworking && !c.singleNode()
}

// importedConfig returns the reply to the request for the configuration of an imported cluster's workers, the same for all hosts: the
// host's own, else another host's. It is nil before any host has one.
func (c *hostCase) importedConfig() *wire.APIVipConnectivityResponse {
	own := c.Host.IgnitionDownload
	if own != nil && own.IsSuccess {
		return own
	}
	for _, h := range c.Peers.hosts {
		if h.IgnitionDownload != nil && h.IgnitionDownload.IsSuccess {
			return h.IgnitionDownload
		}
	}
	return own
}

func (c *hostCase) resolved(name string) verdict {
	addrs, aliases, _ := c.answers(name)
	switch {
	case len(addrs) == 0 && len(aliases) == 0:
		return failure("Require %s to resolve, found no address and no alias", name)
	case len(addrs) == 0: // a load balancer by DNS has addresses when the installation has brought its members up
		return success("%s is an alias of %s, which has no address yet", name, aliases[0])
	}
	if !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !hardware.Owns(c.nics, a) }) {
		return failure("Require %s to lead to the cluster, it leads to the host alone (%s)", name, addrs[0])
	}
	return success("%s resolves", name)
}

// answers returns the addresses and aliases of a name in the host's reply, and whether the name is in it.
func (c *hostCase) answers(name string) (addrs []netip.Addr, aliases []string, found bool) {
	for i := range c.Host.DomainResolution.Resolutions {
		r := &c.Host.DomainResolution.Resolutions[i]
		if !strings.EqualFold(r.DomainName, name) { // letters of names have no case (RFC 4343)
			continue
		}
		found = true
		aliases = append(aliases, r.Cnames...)
		for _, texts := range [][]string{r.Ipv4Addresses, r.Ipv6Addresses} {
			for _, text := range texts {
				bare, _, _ := strings.Cut(text, "/") // some agents send the prefix length as well
				if a, ok := hardware.ParseAddr(bare); ok {
					addrs = append(addrs, a)
				}
			}
		}
	}
	return addrs, aliases, found
}

func noWildcardDNS(c *hostCase) verdict {
	switch {
	case c.dayTwo():
		return success("The cluster exists already")
	case c.Cluster.BaseDNSDomain == "":
		return broken("Require a base DNS domain, found none")
	case c.Host.DomainResolution == nil:
		return pending("The host has not resolved the names of the cluster yet")
	}
	plain := clusterDomain(wildcardLabel, c.Cluster)
	for _, name := range []string{plain + ".", plain} {
		addrs, aliases, found := c.answers(name)
		if !found {
			return broken("Require an answer about %s, the host sent none", name)
		}
		const wildcard = "Require no wildcard in %s.%s, %s resolves to %s"
		if len(addrs) > 0 {
			return failure(wildcard, c.Cluster.Name, c.Cluster.BaseDNSDomain, name, addrs[0])
		}
		if len(aliases) > 0 {
			return failure(wildcard, c.Cluster.Name, c.Cluster.BaseDNSDomain, name, aliases[0])
		}
	}
	return success("No wildcard is configured")
}
