package installconfig

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/model"
)

// Values that openshift-install knows, and refuses on the platforms of this service (openshift/installer,
// pkg/types/validation/installconfig.go).
const (
	external        = "External"
	customFeatures  = "CustomNoUpgrade"
	workers         = "worker"
	masters         = "master"
	ovnKubernetes   = "OVNKubernetes"
	joinSubnetField = "networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"
)

// platformOf returns the type of the only platform of an install-config.
func (c *InstallConfig) platformOf() string {
	switch p := c.Platform; {
	case p.BareMetal != nil:
		return "baremetal"
	case p.VSphere != nil:
		return "vsphere"
	case p.Nutanix != nil:
		return "nutanix"
	case p.External != nil:
		return "external"
	}
	return "none"
}

// checkPlatform returns an error for another platform than the cluster's, by which it is validated, and for settings that the
// installer takes on other platforms only.
func (c *InstallConfig) checkPlatform(cluster *model.Cluster) error {
	platform := c.platformOf()
	if platform != cluster.Platform.Type {
		return misfit("platform", "require the platform %s of the cluster, found %s: change platform there", cluster.Platform.Type, platform)
	}
	if c.Publish != "" && c.Publish != external {
		return misfit("publish", "require External on platform %s, found %q", platform, c.Publish)
	}
	if c.CredentialsMode != "" && (platform != "nutanix" || c.CredentialsMode != "Manual") {
		return misfit("credentialsMode", "must not be %s on platform %s", c.CredentialsMode, platform)
	}
	if c.Networking.ClusterNetworkMTU != 0 {
		return misfit("networking.clusterNetworkMTU", "the installer takes it on AWS only: set the MTU by a manifest of the network operator")
	}
	if b := c.loadBalancer(); b != nil && !slices.Contains([]string{"", "UserManaged", "OpenShiftManagedDefault"}, b.Type) {
		return misfit("platform."+platform+".loadBalancer.type", "require UserManaged or OpenShiftManagedDefault, found %q", b.Type)
	}
	return nil
}

func (c *InstallConfig) loadBalancer() *LoadBalancer {
	switch p := c.Platform; {
	case p.BareMetal != nil:
		return p.BareMetal.LoadBalancer
	case p.VSphere != nil:
		return p.VSphere.LoadBalancer
	case p.Nutanix != nil:
		return p.Nutanix.LoadBalancer
	}
	return nil
}

// checkGates returns an error for feature gates that the installer does not read.
func (c *InstallConfig) checkGates(*model.Cluster) error {
	if len(c.FeatureGates) > 0 && c.FeatureSet != customFeatures {
		return misfit("featureGates", "require the featureSet %s, found %q", customFeatures, c.FeatureSet)
	}
	for _, gate := range c.FeatureGates {
		name, value, _ := strings.Cut(gate, "=")
		if _, err := strconv.ParseBool(value); err != nil || name == "" {
			return misfit("featureGates", "require entries such as Name=true, found %q", gate)
		}
	}
	return nil
}

// checkPoolNames returns an error for pools by other names than the platforms have, and for architectures that differ.
func (c *InstallConfig) checkPoolNames(*model.Cluster) error {
	if c.ControlPlane.Name != masters {
		return misfit("controlPlane.name", "require %s, found %q", masters, c.ControlPlane.Name)
	}
	for i, p := range c.Compute {
		switch {
		case p.Name != workers:
			return misfit("compute.name", "require %s, found %q", workers, p.Name)
		case i > 0:
			return misfit("compute", "require one pool of workers, found %d", len(c.Compute))
		case p.Architecture != c.ControlPlane.Architecture:
			return misfit("compute.architecture", "require the architecture of the control plane %q, found %q", c.ControlPlane.Architecture,
				p.Architecture)
		}
	}
	return nil
}

// checkOVN returns an error for settings of OVNKubernetes under another network plug-in, and for a join subnet that the installer
// cannot use. Whether it overlaps others is validated with the cluster.
func (c *InstallConfig) checkOVN(*model.Cluster) error {
	own := c.Networking.OVNKubernetesConfig
	if own == nil {
		return nil
	}
	if !strings.EqualFold(c.Networking.NetworkType, ovnKubernetes) {
		return misfit("networking.ovnKubernetesConfig", "require the networkType %s, found %q", ovnKubernetes, c.Networking.NetworkType)
	}
	if own.IPv4 == nil || own.IPv4.InternalJoinSubnet == "" {
		return nil
	}
	subnet, err := netip.ParsePrefix(own.IPv4.InternalJoinSubnet)
	if err != nil || subnet != subnet.Masked() || !subnet.Addr().Is4() {
		return misfit(joinSubnetField, "require a network such as 100.64.0.0/16, found %q", own.IPv4.InternalJoinSubnet)
	}
	nodes := 0
	for _, n := range c.Networking.ClusterNetwork {
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && p.Addr().Is4() && n.HostPrefix >= p.Bits() {
			nodes += 1 << (n.HostPrefix - p.Bits())
		}
	}
	// The installer keeps three addresses: of the network, of its gateway, and of all.
	if room := 1<<(subnet.Addr().BitLen()-subnet.Bits()) - 3; nodes >= room {
		return misfit(joinSubnetField, "require an address for each of the %d nodes that the cluster network has room for, %s has %d",
			nodes, subnet, max(room, 0))
	}
	return nil
}

// repository matches a registry with an optional port and an optional repository, without tag and digest
// (github.com/distribution/reference, whose names openshift-install reads).
var repository = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(:[0-9]+)?` +
	`(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

// checkMirrorNames returns an error for mirrors that the installer cannot read.
func (c *InstallConfig) checkMirrorNames(*model.Cluster) error {
	type named struct{ field, name string }
	var all []named
	add := func(field, source string, mirrors []string) {
		all = append(all, named{field + ".source", source})
		for _, m := range mirrors {
			all = append(all, named{field + ".mirrors", m})
		}
	}
	for _, s := range c.ImageContentSources {
		add("imageContentSources", s.Source, s.Mirrors)
	}
	for _, s := range c.ImageDigestSources {
		add("imageDigestSources", s.Source, s.Mirrors)
		if !slices.Contains([]string{"", "NeverContactSource", "AllowContactingSource"}, s.SourcePolicy) {
			return misfit("imageDigestSources.sourcePolicy", "require NeverContactSource or AllowContactingSource, found %q", s.SourcePolicy)
		}
	}
	for _, n := range all {
		if !repository.MatchString(n.name) {
			return misfit(n.field, "require a repository such as quay.io/openshift-release-dev, without tag and digest, found %q", n.name)
		}
	}
	return nil
}
