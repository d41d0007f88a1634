package standin

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// platformFits wants exactly one platform, with what it cannot do without (openshift/installer,
// pkg/types/*/validation/platform.go).
func (r *run) platformFits(c *config) field.ErrorList {
	at := field.NewPath("platform")
	n := 0
	for _, set := range []bool{
		c.Platform.None != nil, c.Platform.External != nil, c.Platform.BareMetal != nil, c.Platform.VSphere != nil,
		c.Platform.Nutanix != nil,
	} {
		if set {
			n++
		}
	}
	if n != 1 {
		return field.ErrorList{field.Invalid(at, n, "must specify one of the platforms (baremetal, external, none, nutanix, vsphere)")}
	}
	switch p := c.Platform; {
	case p.BareMetal != nil:
		at = at.Child("baremetal")
		return append(c.addressesFit(at, p.BareMetal.virtualAddresses), append(c.machinesFit(at), c.provisioningFits(at)...)...)
	case p.VSphere != nil:
		at = at.Child("vsphere")
		return append(c.addressesFit(at, p.VSphere.virtualAddresses), p.VSphere.check(at)...)
	case p.Nutanix != nil:
		at = at.Child("nutanix")
		return append(c.addressesFit(at, p.Nutanix.virtualAddresses), p.Nutanix.check(at)...)
	case p.External != nil && p.External.CloudControllerManager == "External" && !c.enabled("CloudControllerManager"):
		return field.ErrorList{field.Invalid(at.Child("external", "cloudControllerManager"), "External",
			"requires the CloudControllerManager capability")}
	}
	return nil
}

// addressesFit wants an address of each kind, or one of each family, all in the networks of the nodes. On vSphere
// a load balancer of the user's can stand for both.
func (c *config) addressesFit(at *field.Path, v virtualAddresses) field.ErrorList {
	api, ingress := join(v.APIVIPs, v.APIVIP), join(v.IngressVIPs, v.IngressVIP)
	if c.Platform.VSphere != nil && len(api)+len(ingress) == 0 {
		return nil
	}
	faults := append(c.vipsFit(at.Child("apiVIPs"), "API", api, v), c.vipsFit(at.Child("ingressVIPs"), "Ingress", ingress, v)...)
	if len(api) == 0 && len(ingress) > 0 {
		faults = append(faults, field.Required(at.Child("apiVIPs"), "must specify VIP for API, when VIP for ingress is set"))
	}
	if len(ingress) == 0 && len(api) > 0 {
		faults = append(faults, field.Required(at.Child("ingressVIPs"), "must specify VIP for ingress, when VIP for API is set"))
	}
	for _, vip := range api {
		if slices.Contains(ingress, vip) && !v.balancedByUser() {
			faults = append(faults, field.Invalid(at.Child("apiVIPs"), vip, "VIP for API must not be one of the Ingress VIPs"))
		}
	}
	return faults
}

// balancedByUser: a load balancer of the user's leads to the nodes.
func (v virtualAddresses) balancedByUser() bool { return v.LoadBalancer["type"] == "UserManaged" }

func (c *config) vipsFit(at *field.Path, what string, vips []string, v virtualAddresses) field.ErrorList {
	if len(vips) == 0 {
		return field.ErrorList{field.Required(at, "must specify at least one VIP for the "+what)}
	}
	var faults field.ErrorList
	var found []bool // families
	for _, vip := range vips {
		addr, err := netip.ParseAddr(vip)
		if err != nil || !c.inMachineNetwork(addr) && !v.balancedByUser() {
			networks := strings.Join(c.machineNetworks(), ",")
			faults = append(faults, field.Invalid(at, vip, "IP expected to be in one of the machine networks: "+networks))
			continue
		}
		if slices.Contains(found, addr.Is6()) {
			faults = append(faults, field.Invalid(at, vip, "only one VIP of a family can be specified"))
		}
		found = append(found, addr.Is6())
	}
	if networks := c.Networking.ServiceNetwork; len(found) > 0 && len(networks) > 0 {
		if primary, err := netip.ParsePrefix(networks[0]); err == nil && primary.Addr().Is6() != found[0] {
			faults = append(faults, field.Invalid(at, vips[0],
				"VIP for the "+what+" must be of the same IP family with the primary machine network"))
		}
		if len(found) > len(networks) {
			faults = append(faults, field.Invalid(at, len(vips), "two VIPs require dual-stack networks"))
		}
	}
	return faults
}

func join(list []string, one string) []string {
	if one != "" {
		list = append(list, one)
	}
	return list
}

func (c *config) machineNetworks() []string {
	var texts []string
	for _, n := range c.Networking.MachineNetwork {
		texts = append(texts, n.CIDR)
	}
	return texts
}

func (c *config) inMachineNetwork(addr netip.Addr) bool {
	for _, n := range c.Networking.MachineNetwork {
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && p.Contains(addr) {
			return true
		}
	}
	return false
}

// missing names the fields that are empty.
func missing(at *field.Path, fields map[string]string) field.ErrorList {
	var faults field.ErrorList
	for name, value := range fields {
		if value == "" {
			faults = append(faults, field.Required(at.Child(name), "must specify the "+name))
		}
	}
	return faults
}

func (v *vSphere) check(at *field.Path) field.ErrorList {
	if v.VCenter != "" {
		return missing(at, map[string]string{
			"username": v.Username, "password": v.Password,
			"datacenter": v.Datacenter, "defaultDatastore": v.DefaultDatastore,
		})
	}
	var faults field.ErrorList
	servers := map[string]bool{}
	for i, c := range v.VCenters {
		servers[c.Server] = true
		one := at.Child("vcenters").Index(i)
		faults = append(faults, missing(one, map[string]string{"server": c.Server, "user": c.User, "password": c.Password})...)
		if len(c.Datacenters) == 0 {
			faults = append(faults, field.Required(one.Child("datacenters"), "must specify at least one datacenter"))
		}
	}
	switch {
	case len(v.VCenters) == 0 && len(v.FailureDomains) == 0:
		// The real program makes one of each from the fields of former versions, and reports the members that these lack.
		one, domain := at.Child("vcenters").Index(0), at.Child("failureDomains")
		topology := domain.Child("topology")
		return field.ErrorList{
			field.Required(one.Child("server"), "must be the domain name or IP address of the vCenter"),
			field.Required(one.Child("username"), "must specify the username"),
			field.Required(one.Child("password"), "must specify the password"),
			field.Required(one.Child("datacenters"), "must specify at least one datacenter"),
			field.Required(domain.Child("server"), "must specify a vCenter server"),
			field.Required(topology.Child("datacenter"), "must specify a datacenter"),
			field.Required(topology.Child("datastore"), "must specify a datastore"),
			field.Required(topology.Child("computeCluster"), "must specify a computeCluster"),
		}
	case len(v.VCenters) == 0 || len(v.FailureDomains) == 0:
		return append(faults, field.Required(at, "must specify vcenters and failureDomains"))
	}
	for i, d := range v.FailureDomains {
		one := at.Child("failureDomains").Index(i)
		faults = append(faults, missing(one, map[string]string{"name": d.Name, "region": d.Region, "zone": d.Zone, "server": d.Server})...)
		if !servers[d.Server] {
			faults = append(faults, field.Invalid(one.Child("server"), d.Server, "server does not exist in vcenters"))
		}
		faults = append(faults, topologyFits(one.Child("topology"), d.Topology)...)
	}
	return faults
}

func topologyFits(at *field.Path, topology map[string]any) field.ErrorList {
	text := func(name string) string {
		value, _ := topology[name].(string)
		return value
	}
	datacenter := text("datacenter")
	faults := missing(at, map[string]string{"datacenter": datacenter})
	for name, prefix := range map[string]string{"datastore": "/datastore/", "computeCluster": "/host/", "folder": "/vm/"} {
		if value := text(name); value == "" && name != "folder" || value != "" && !strings.HasPrefix(value, "/"+datacenter+prefix) {
			faults = append(faults, field.Invalid(at.Child(name), value, "must be a full path of the form /"+datacenter+prefix+name))
		}
	}
	if networks, _ := topology["networks"].([]any); len(networks) != 1 {
		faults = append(faults, field.Required(at.Child("networks"), "must specify a network"))
	}
	return faults
}

func (n *nutanix) check(at *field.Path) field.ErrorList {
	endpoint := func(of map[string]any) (address, port string) {
		e, _ := of["endpoint"].(map[string]any)
		address, _ = e["address"].(string)
		if e["port"] != nil {
			port = fmt.Sprint(e["port"])
		}
		return address, port
	}
	text := func(of map[string]any, name string) string {
		value, _ := of[name].(string)
		return value
	}
	address, port := endpoint(n.PrismCentral)
	faults := missing(at.Child("prismCentral"), map[string]string{
		"address": address, "port": port, "username": text(n.PrismCentral, "username"), "password": text(n.PrismCentral, "password"),
	})
	if len(n.PrismElements) != 1 {
		faults = append(faults, field.Required(at.Child("prismElements"), "must specify one Prism Element"))
	}
	for i, e := range n.PrismElements {
		address, _ := endpoint(e)
		faults = append(faults, missing(at.Child("prismElements").Index(i), map[string]string{"uuid": text(e, "uuid"), "address": address})...)
	}
	if len(n.SubnetUUIDs) == 0 || len(slices.Compact(slices.Sorted(slices.Values(n.SubnetUUIDs)))) != len(n.SubnetUUIDs) {
		faults = append(faults, field.Invalid(at.Child("subnetUUIDs"), n.SubnetUUIDs, "must specify at least one subnet, each once"))
	}
	return faults
}

func (c *config) machinesFit(at *field.Path) field.ErrorList {
	machines := c.Platform.BareMetal.Hosts
	at = at.Child("hosts")
	if machines == nil {
		return field.ErrorList{field.Required(at, "bare metal hosts are missing")}
	}
	if problem := c.tooFewHosts(machines); problem != "" {
		return field.ErrorList{field.Required(at, problem)}
	}
	var faults field.ErrorList
	names, addresses := map[string]bool{}, map[string]bool{}
	for i, m := range machines {
		one := at.Index(i)
		mac, err := net.ParseMAC(m.BootMACAddress)
		switch {
		case err != nil:
			faults = append(faults, field.Required(one.Child("bootMACAddress"), "missing or invalid BootMACAddress"))
		case addresses[mac.String()]:
			faults = append(faults, field.Duplicate(one.Child("bootMACAddress"), m.BootMACAddress))
		}
		switch {
		case len(validation.IsDNS1123Subdomain(m.Name)) > 0:
			faults = append(faults, field.Invalid(one.Child("name"), m.Name, "must be a valid hostname"))
		case names[m.Name]:
			faults = append(faults, field.Duplicate(one.Child("name"), m.Name))
		}
		if known := []string{"", "UEFI", "UEFISecureBoot", "legacy"}; !slices.Contains(known, m.BootMode) {
			faults = append(faults, field.NotSupported(one.Child("bootMode"), m.BootMode, known[1:]))
		}
		names[m.Name], addresses[mac.String()] = true, true
	}
	return faults
}

// tooFewHosts counts the hosts of each role; hosts without one fill the control plane first. The result is empty where
// all replicas have a host.
func (c *config) tooFewHosts(machines []machine) string {
	found := map[string]int{}
	for _, m := range machines {
		role := m.Role
		switch {
		case role != "":
		case found["master"] < c.ControlPlane.Replicas:
			role = "master"
		default:
			role = "worker"
		}
		found[role]++
	}
	workers := 0
	for _, p := range c.Compute {
		workers += p.Replicas
	}
	for _, need := range []struct {
		role, pool string
		replicas   int
	}{{"master", "ControlPlane", c.ControlPlane.Replicas}, {"arbiter", "Arbiter", c.arbiters()}, {"worker", "Compute", workers}} {
		if found[need.role] < need.replicas {
			return fmt.Sprintf("not enough hosts found (%d) to support all the configured %s replicas (%d)",
				found[need.role], need.pool, need.replicas)
		}
	}
	return ""
}

func (c *config) provisioningFits(at *field.Path) field.ErrorList {
	metal := c.Platform.BareMetal
	if known := []string{"", "Managed", "Unmanaged", "Disabled"}; !slices.Contains(known, metal.ProvisioningNetwork) {
		return field.ErrorList{field.NotSupported(at.Child("provisioningNetwork"), metal.ProvisioningNetwork, known[1:])}
	}
	if ip := metal.ClusterProvisioningIP; metal.ProvisioningNetwork == "Disabled" && ip != "" {
		if addr, err := netip.ParseAddr(ip); err != nil || !c.inMachineNetwork(addr) {
			return field.ErrorList{field.Invalid(at.Child("clusterProvisioningIP"), ip,
				"provisioning network is disabled, IP expected to be in one of the machine networks")}
		}
	}
	return nil
}
