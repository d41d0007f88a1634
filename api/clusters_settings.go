package api

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Values of the load balancer setting.
const (
	clusterManaged = "cluster-managed"
	userManaged    = "user-managed"
)

var operatorName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// applySettings lays what a client sent over a cluster; absent fields change nothing.
// Registration and update share it.
func applySettings(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	for _, part := range []func(*model.Cluster, wire.V2ClusterUpdateParams) error{
		refuseUnsupported, applyPlatform, applyIdentity, applyNetworks, applyVIPs, applyProxy, applyTime, applyNodes,
	} {
		if err := part(c, p); err != nil {
			return err
		}
	}
	return nil
}

// refuseUnsupported answers fields whose effect is not built; empty ones say nothing.
func refuseUnsupported(_ *model.Cluster, p wire.V2ClusterUpdateParams) error {
	switch {
	case p.VipDhcpAllocation != nil && *p.VipDhcpAllocation:
		return errUnsupported("vip_dhcp_allocation")
	case p.IgnitionEndpoint != nil && *p.IgnitionEndpoint != (wire.IgnitionEndpoint{}):
		return errUnsupported("ignition_endpoint")
	case p.OperatorBundles != nil && len(*p.OperatorBundles) > 0:
		return errUnsupported("operator_bundles")
	case p.APIVipDNSName != nil && *p.APIVipDNSName != "":
		return errUnsupported("api_vip_dns_name")
	}
	return nil
}

// applyPlatform decides platform, load balancer and who manages the network: on no
// platform, an external one and a single node the user does.
func applyPlatform(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	set(&c.ControlPlaneCount, p.ControlPlaneCount)
	switch {
	case p.Platform != nil:
		c.Platform = model.Platform{
			Type: string(p.Platform.Type), ExternalName: p.Platform.External.PlatformName,
			CloudControllerManager: string(p.Platform.External.CloudControllerManager),
		}
	case p.UserManagedNetworking != nil && *p.UserManagedNetworking && c.Platform.Type == "baremetal":
		c.Platform.Type = "none"
	case p.UserManagedNetworking != nil && !*p.UserManagedNetworking && c.Platform.Type == "none":
		c.Platform.Type = "baremetal"
	}
	if c.SingleNode() && c.Platform.Type == "baremetal" {
		c.Platform.Type = "none"
	}
	c.UserManagedNetworking = c.SingleNode() || c.Platform.Type == "none" || c.Platform.Type == "external"
	if p.UserManagedNetworking != nil && *p.UserManagedNetworking != c.UserManagedNetworking {
		return model.Invalidf("user_managed_networking: require %t on platform %s with %d control plane hosts, found %t",
			c.UserManagedNetworking, c.Platform.Type, c.ControlPlaneCount, *p.UserManagedNetworking)
	}
	if c.Platform.Type == "external" && c.Platform.ExternalName == "" {
		return model.Invalidf("platform.external.platform_name: require a name on platform external, found none")
	}
	return applyLoadBalancer(c, p)
}

func applyLoadBalancer(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.LoadBalancer != nil && p.LoadBalancer.Type != "" {
		c.LoadBalancer = string(p.LoadBalancer.Type)
	}
	if c.LoadBalancer == userManaged && (c.UserManagedNetworking || c.Platform.Type != "baremetal" && c.Platform.Type != "vsphere") {
		return model.Invalidf("load_balancer.type: require cluster-managed on platform %s, found %s", c.Platform.Type, c.LoadBalancer)
	}
	return nil
}

func applyIdentity(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	set(&c.Name, p.Name)
	if err := checkClusterName(c.Name, c.Platform.Type); err != nil {
		return err
	}
	set(&c.BaseDNSDomain, p.BaseDNSDomain)
	if c.BaseDNSDomain != "" {
		if err := checkDomain("base_dns_domain", c.BaseDNSDomain); err != nil {
			return err
		}
	}
	if p.SSHPublicKey != nil {
		if err := checkSSHKeys("ssh_public_key", *p.SSHPublicKey); err != nil {
			return err
		}
		c.SSHPublicKey = strings.TrimSpace(*p.SSHPublicKey)
	}
	set(&c.Tags, p.Tags)
	return nil
}

func applyProxy(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	set(&c.Proxy.HTTP, p.HTTPProxy)
	set(&c.Proxy.HTTPS, p.HTTPSProxy)
	set(&c.Proxy.NoProxy, p.NoProxy)
	return checkProxy(c.Proxy)
}

func applyTime(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	for field, text := range map[string]*string{"additional_ntp_source": p.AdditionalNtpSource, "ntp_sources": p.NtpSources} {
		if text == nil {
			continue
		}
		sources, err := splitNTP(field, *text)
		if err != nil {
			return err
		}
		c.NTPSources = sources
	}
	return nil
}

// applyNodes sets what nodes are made with.
func applyNodes(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.Hyperthreading != nil {
		c.Hyperthreading = string(*p.Hyperthreading)
	}
	set(&c.SchedulableMasters, p.SchedulableMasters)
	if e := p.DiskEncryption; e != nil {
		c.DiskEncryption = model.DiskEncryption{
			EnableOn:    or(string(e.EnableOn), c.DiskEncryption.EnableOn),
			Mode:        or(string(e.Mode), c.DiskEncryption.Mode),
			TangServers: e.TangServers,
		}
		if c.DiskEncryption.Mode == "tang" && c.DiskEncryption.EnableOn != "none" && e.TangServers == "" {
			return model.Invalidf("disk_encryption.tang_servers: require servers with mode tang, found none")
		}
	}
	if p.OlmOperators == nil {
		return nil
	}
	c.OLMOperators = nil
	for _, o := range *p.OlmOperators {
		if o.Name == nil || !operatorName.MatchString(*o.Name) {
			return model.Invalidf("olm_operators: require the name of an operator, found %q", or(deref(o.Name), "none"))
		}
		if !slices.ContainsFunc(c.OLMOperators, func(have model.OLMOperator) bool { return have.Name == *o.Name }) {
			c.OLMOperators = append(c.OLMOperators, model.OLMOperator{Name: *o.Name, Properties: deref(o.Properties)})
		}
	}
	return nil
}

// fingerprint changes when something changes that hosts are asked about.
func fingerprint(c *model.Cluster) string {
	var vips []string
	for _, v := range slices.Concat(c.APIVIPs, c.IngressVIPs) {
		vips = append(vips, v.IP.String())
	}
	return fmt.Sprint(c.Name, c.BaseDNSDomain, c.UserManagedNetworking, vips, c.MachineNetworks, c.MachineNetworksAuto,
		c.ClusterNetworks, c.ServiceNetworks, c.NTPSources)
}

// set changes a value when a client sent another one.
func set[T any](value, sent *T) {
	if sent != nil {
		*value = *sent
	}
}

func or(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
