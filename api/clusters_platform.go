package api

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Values of the load balancer setting.
const (
	clusterManaged = "cluster-managed"
	userManaged    = "user-managed"
)

// The platforms whose rules differ.
const (
	platformBaremetal = "baremetal"
	platformNone      = "none"
	platformVSphere   = "vsphere"
	platformExternal  = "external"
)

// applyPlatform decides platform, load balancer and who manages the network: on no
// platform, an external one and a single node the user does, on vSphere whoever the
// user says, elsewhere the cluster.
func applyPlatform(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	set(&c.ControlPlaneCount, p.ControlPlaneCount)
	switch {
	case p.Platform != nil:
		if err := choosePlatform(c, *p.Platform); err != nil {
			return err
		}
	case p.UserManagedNetworking != nil && *p.UserManagedNetworking && c.Platform.Type == platformBaremetal:
		c.Platform.Type = platformNone
	case p.UserManagedNetworking != nil && !*p.UserManagedNetworking && c.Platform.Type == platformNone:
		c.Platform.Type = platformBaremetal
	}
	if c.SingleNode() && c.Platform.Type == platformBaremetal {
		c.Platform.Type = platformNone
	}
	managed := c.SingleNode() || c.Platform.Type == platformNone || c.Platform.Type == platformExternal
	if c.Platform.Type == platformVSphere && !c.SingleNode() {
		managed = c.UserManagedNetworking
		set(&managed, p.UserManagedNetworking)
	}
	c.UserManagedNetworking = managed
	if p.UserManagedNetworking != nil && *p.UserManagedNetworking != c.UserManagedNetworking {
		return model.Invalidf("user_managed_networking: require %t on platform %s with %d control plane hosts, found %t",
			c.UserManagedNetworking, c.Platform.Type, c.ControlPlaneCount, *p.UserManagedNetworking)
	}
	return applyLoadBalancer(c, p)
}

// choosePlatform takes a platform; an external one has a name, no other has.
func choosePlatform(c *model.Cluster, p wire.Platform) error {
	chosen := model.Platform{
		Type: string(p.Type), ExternalName: p.External.PlatformName,
		CloudControllerManager: string(p.External.CloudControllerManager),
	}
	if chosen.Type == platformExternal && chosen.ExternalName == "" && c.Platform.Type == platformExternal {
		chosen.ExternalName = c.Platform.ExternalName
	}
	switch {
	case chosen.Type == platformExternal && chosen.ExternalName == "":
		return model.Invalidf("platform.external.platform_name: require a name on platform external, found none")
	case chosen.Type != platformExternal && chosen.ExternalName != "":
		return model.Invalidf("platform.external.platform_name: require none on platform %s, found %q", chosen.Type, chosen.ExternalName)
	case chosen.Type != platformExternal && chosen.CloudControllerManager != "":
		return model.Invalidf("platform.external.cloud_controller_manager: require none on platform %s, found %q",
			chosen.Type, chosen.CloudControllerManager)
	}
	if chosen.Type != c.Platform.Type {
		c.UserManagedNetworking = false // who managed the network of another platform decides nothing
	}
	c.Platform = chosen
	return nil
}

func applyLoadBalancer(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.LoadBalancer != nil && p.LoadBalancer.Type != "" {
		c.LoadBalancer = string(p.LoadBalancer.Type)
	}
	if c.LoadBalancer == userManaged && (c.UserManagedNetworking || c.Platform.Type != platformBaremetal && c.Platform.Type != platformVSphere) {
		return model.Invalidf("load_balancer.type: require cluster-managed on platform %s, found %s", c.Platform.Type, c.LoadBalancer)
	}
	return nil
}
