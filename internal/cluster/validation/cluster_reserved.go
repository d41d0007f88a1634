package validation

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// reserved is a network that the cluster network plug-in uses inside of nodes.
type reserved struct {
	name    string
	network netip.Prefix
	// setting is the field of the install-config that moves it; empty: it cannot be moved before the installation.
	setting string
}

// reservedSince is the OpenShift version whose installer refuses networks that overlap the default subnets of OVNKubernetes, and IPv4
// cluster networks of different host prefixes (openshift/installer, pkg/types/validation/installconfig.go).
var reservedSince = semver.MustParse("4.19.0-0")

const joinSetting = "networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"

// reservedNetworks lists the networks that no network of the cluster may overlap. A join subnet of the override takes the place of the
// default one in every version.
func (c *clusterCase) reservedNetworks() []reserved {
	if !strings.EqualFold(c.Cluster.NetworkType, string(wire.ClusterNetworkTypeOVNKubernetes)) {
		return nil
	}
	join := reserved{"OVNKubernetes' join subnet", netip.MustParsePrefix("100.64.0.0/16"), joinSetting}
	own, moved := c.joinSubnet()
	if moved {
		join.network = own
	}
	if !c.strict() {
		if moved {
			return []reserved{join}
		}
		return nil
	}
	return []reserved{
		join,
		{"OVNKubernetes' transit subnet", netip.MustParsePrefix("100.88.0.0/16"), ""},
		{"OVNKubernetes' masquerade subnet", netip.MustParsePrefix("169.254.0.0/17"), ""},
		{"OVNKubernetes' join subnet", netip.MustParsePrefix("fd98::/64"), ""},
		{"OVNKubernetes' transit subnet", netip.MustParsePrefix("fd97::/64"), ""},
	}
}

// strict reports whether the installer of the cluster refuses what reservedSince says.
func (c *clusterCase) strict() bool {
	version, err := semver.NewVersion(c.Cluster.OpenShiftVersion)
	return err == nil && !version.LessThan(reservedSince)
}

// joinSubnet returns the IPv4 join subnet of the override, and whether it has one that can be read.
func (c *clusterCase) joinSubnet() (netip.Prefix, bool) {
	var given struct {
		Networking struct {
			OVN struct {
				IPv4 struct {
					Join string `json:"internalJoinSubnet"`
				} `json:"ipv4"`
			} `json:"ovnKubernetesConfig"`
		} `json:"networking"`
	}
	if json.Unmarshal([]byte(c.Cluster.InstallConfigOverride), &given) != nil {
		return netip.Prefix{}, false
	}
	p, err := netip.ParsePrefix(given.Networking.OVN.IPv4.Join)
	return p, err == nil
}

// overlapsReserved finds a network of the cluster that overlaps a reserved one.
func (c *clusterCase) overlapsReserved() (verdict, bool) {
	for _, r := range c.reservedNetworks() {
		for _, list := range []struct {
			kind     string
			networks []netip.Prefix
		}{
			{"machine", c.Cluster.MachineNetworks},
			{"cluster", clusterPrefixes(c.Cluster.ClusterNetworks)},
			{"service", c.Cluster.ServiceNetworks},
		} {
			i := slices.IndexFunc(list.networks, r.network.Overlaps)
			switch {
			case i < 0:
			case r.setting != "":
				return failure("Require networks apart, the %s network %s overlaps %s %s: use another network, or set %s in the install-config",
					list.kind, list.networks[i], r.name, r.network, r.setting), true
			default:
				return failure("Require networks apart, the %s network %s overlaps %s %s: use another network",
					list.kind, list.networks[i], r.name, r.network), true
			}
		}
	}
	return verdict{}, false
}

// proxyInside finds a proxy whose address is in a network of pods or services, or in the join subnet of the override: nodes reach it
// only while the cluster works.
func (c *clusterCase) proxyInside() (verdict, bool) {
	var join []netip.Prefix
	if own, moved := c.joinSubnet(); moved {
		join = append(join, own)
	}
	for _, proxy := range []struct{ field, address string }{
		{"http_proxy", c.Cluster.Proxy.HTTP}, {"https_proxy", c.Cluster.Proxy.HTTPS},
	} {
		u, err := url.Parse(proxy.address)
		if err != nil {
			continue // the API refuses it
		}
		a, ok := hardware.ParseAddr(u.Hostname())
		if !ok {
			continue
		}
		for _, list := range []struct {
			kind     string
			networks []netip.Prefix
		}{
			{"service", c.Cluster.ServiceNetworks}, {"cluster", clusterPrefixes(c.Cluster.ClusterNetworks)}, {"join", join},
		} {
			inside := func(n netip.Prefix) bool { return n.Contains(a) }
			if i := slices.IndexFunc(list.networks, inside); i >= 0 {
				return failure("Require a proxy outside of the cluster, the address of %s %s is in the %s network %s",
					proxy.field, a, list.kind, list.networks[i]), true
			}
		}
	}
	return verdict{}, false
}

// Sizes of service networks that the API server takes (openshift/installer, pkg/validate/validate.go, ServiceSubnetCIDR), and the host
// prefix of IPv6 (pkg/types/validation/installconfig.go).
const (
	widestServicesV4, widestServicesV6 = 12, 112
	hostPrefixV6                       = 64
)

// partsOfTwoSizes finds IPv4 cluster networks whose host prefixes differ.
func (c *clusterCase) partsOfTwoSizes() (verdict, bool) {
	var first *model.ClusterNetwork
	for i := range c.Cluster.ClusterNetworks {
		n := &c.Cluster.ClusterNetworks[i]
		switch {
		case !n.CIDR.Addr().Is4() || !c.strict():
		case first == nil:
			first = n
		case n.HostPrefix != first.HostPrefix:
			return failure("Require one host prefix for all IPv4 cluster networks, found %d of %s and %d of %s",
				first.HostPrefix, first.CIDR, n.HostPrefix, n.CIDR), true
		}
	}
	return verdict{}, false
}

// servicesTooLarge finds a service network with more addresses than the API server takes.
func (c *clusterCase) servicesTooLarge() (verdict, bool) {
	for _, n := range c.Cluster.ServiceNetworks {
		widest := widestServicesV4
		if n.Addr().Is6() {
			widest = widestServicesV6
		}
		if n.Bits() < widest {
			return failure("Require a service network of /%d or smaller, found %s", widest, n), true
		}
	}
	return verdict{}, false
}
