package definition

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Values of the load balancer setting.
const (
	clusterManaged = "cluster-managed"
	userManaged    = "user-managed"
)

// The platforms with rules of their own.
const (
	platformBaremetal = "baremetal"
	platformNone      = "none"
	platformVSphere   = "vsphere"
	platformExternal  = "external"
)

// applyPlatform sets platform, load balancer and who manages the network: the user on platform none, on an external
// platform and for a single node; the user's choice on vSphere; the cluster on all others.
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

// choosePlatform sets the platform; only an external platform has a name.
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
		return model.Invalidf("platform.external.platform_name is required on platform external")
	case chosen.Type != platformExternal && chosen.ExternalName != "":
		return model.Invalidf("platform.external.platform_name: require none on platform %s, found %q", chosen.Type, chosen.ExternalName)
	case chosen.Type != platformExternal && chosen.CloudControllerManager != "":
		return model.Invalidf("platform.external.cloud_controller_manager: require none on platform %s, found %q",
			chosen.Type, chosen.CloudControllerManager)
	}
	if chosen.Type != c.Platform.Type {
		c.UserManagedNetworking = false // the choice made for another platform does not apply
	}
	c.Platform = chosen
	return nil
}

func applyLoadBalancer(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.LoadBalancer != nil && p.LoadBalancer.Type != "" {
		c.LoadBalancer = string(p.LoadBalancer.Type)
	}
	if c.LoadBalancer == userManaged &&
		(c.UserManagedNetworking || c.Platform.Type != platformBaremetal && c.Platform.Type != platformVSphere) {
		return model.Invalidf("load_balancer.type: require cluster-managed on platform %s, found %s", c.Platform.Type, c.LoadBalancer)
	}
	return nil
}
