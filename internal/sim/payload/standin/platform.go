package standin

import (
	"errors"
	"net"
	"net/netip"
)

type pool struct {
	Name           string         `json:"name"`
	Replicas       int            `json:"replicas"`
	Hyperthreading string         `json:"hyperthreading"`
	Architecture   string         `json:"architecture"`
	Platform       map[string]any `json:"platform"`
	Fencing        *fencing       `json:"fencing"`
	DiskSetup      []any          `json:"diskSetup"`
}

type fencing struct {
	Credentials []struct {
		HostName                string `json:"hostName"`
		Username                string `json:"username"`
		Password                string `json:"password"`
		Address                 string `json:"address"`
		CertificateVerification string `json:"certificateVerification"`
	} `json:"credentials"`
}

type platform struct {
	None      *struct{}  `json:"none"`
	External  *external  `json:"external"`
	BareMetal *bareMetal `json:"baremetal"`
	VSphere   *vSphere   `json:"vsphere"`
	Nutanix   *nutanix   `json:"nutanix"`
}

type external struct {
	PlatformName           string `json:"platformName"`
	CloudControllerManager string `json:"cloudControllerManager"`
}

// virtualAddresses are those that the nodes of a platform move themselves.
type virtualAddresses struct {
	APIVIP       string         `json:"apiVIP"`
	IngressVIP   string         `json:"ingressVIP"`
	APIVIPs      []string       `json:"apiVIPs"`
	IngressVIPs  []string       `json:"ingressVIPs"`
	LoadBalancer map[string]any `json:"loadBalancer"`
}

type vSphere struct {
	virtualAddresses
	VCenter          string `json:"vCenter"`
	Username         string `json:"username"`
	Password         string `json:"password"`
	Datacenter       string `json:"datacenter"`
	DefaultDatastore string `json:"defaultDatastore"`
	Cluster          string `json:"cluster"`
	Network          string `json:"network"`
	Folder           string `json:"folder"`
	ResourcePool     string `json:"resourcePool"`
	DiskType         string `json:"diskType"`
	ClusterOSImage   string `json:"clusterOSImage"`
	VCenters         []struct {
		Server      string   `json:"server"`
		Port        int      `json:"port"`
		User        string   `json:"user"`
		Password    string   `json:"password"`
		Datacenters []string `json:"datacenters"`
	} `json:"vcenters"`
	FailureDomains []struct {
		Name       string         `json:"name"`
		Region     string         `json:"region"`
		Zone       string         `json:"zone"`
		RegionType string         `json:"regionType"`
		ZoneType   string         `json:"zoneType"`
		Server     string         `json:"server"`
		Topology   map[string]any `json:"topology"`
	} `json:"failureDomains"`
}

type nutanix struct {
	virtualAddresses
	PrismCentral   map[string]any   `json:"prismCentral"`
	PrismElements  []map[string]any `json:"prismElements"`
	SubnetUUIDs    []string         `json:"subnetUUIDs"`
	ClusterOSImage string           `json:"clusterOSImage"`
	FailureDomains []map[string]any `json:"failureDomains"`
}

type bareMetal struct {
	virtualAddresses
	ProvisioningNetwork          string    `json:"provisioningNetwork"`
	Hosts                        []machine `json:"hosts"`
	AdditionalNTPServers         []string  `json:"additionalNTPServers"`
	ClusterOSImage               string    `json:"clusterOSImage"`
	ClusterProvisioningIP        string    `json:"clusterProvisioningIP"`
	ExternalBridge               string    `json:"externalBridge"`
	ProvisioningBridge           string    `json:"provisioningBridge"`
	ProvisioningNetworkCIDR      string    `json:"provisioningNetworkCIDR"`
	ProvisioningNetworkInterface string    `json:"provisioningNetworkInterface"`
	ProvisioningDHCPRange        string    `json:"provisioningDHCPRange"`
}

type machine struct {
	Name            string         `json:"name"`
	Role            string         `json:"role"`
	BootMACAddress  string         `json:"bootMACAddress"`
	BootMode        string         `json:"bootMode"`
	BMC             map[string]any `json:"bmc"`
	HardwareProfile string         `json:"hardwareProfile"`
	RootDeviceHints map[string]any `json:"rootDeviceHints"`
	NetworkConfig   map[string]any `json:"networkConfig"`
}

// checkPlatform wants exactly one platform, with what it cannot do without.
func (c *config) checkPlatform() error {
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
		return fault("platform", "must specify one of the platforms (baremetal, external, none, nutanix, vsphere), found %d", n)
	}
	switch p := c.Platform; {
	case p.BareMetal != nil:
		return errors.Join(c.checkAddresses("baremetal", p.BareMetal.virtualAddresses), c.checkMachines(p.BareMetal.Hosts))
	case p.VSphere != nil:
		return errors.Join(c.checkAddresses("vsphere", p.VSphere.virtualAddresses), p.VSphere.check())
	case p.Nutanix != nil:
		return errors.Join(c.checkAddresses("nutanix", p.Nutanix.virtualAddresses), p.Nutanix.check())
	case p.External != nil && p.External.PlatformName == "":
		return fault("platform.external.platformName", "Required value")
	}
	return nil
}

// checkAddresses wants one address of each kind, or one of each family, all in the
// networks of the nodes. The platforms of virtual machines do without.
func (c *config) checkAddresses(platform string, v virtualAddresses) error {
	var faults []error
	for _, kind := range []struct {
		field string
		all   []string
	}{
		{"apiVIPs", join(v.APIVIPs, v.APIVIP)},
		{"ingressVIPs", join(v.IngressVIPs, v.IngressVIP)},
	} {
		field := "platform." + platform + "." + kind.field
		if len(kind.all) == 0 && platform == "baremetal" {
			faults = append(faults, fault(field, "Required value: must specify at least one VIP"))
		}
		families := map[bool]bool{}
		for _, vip := range kind.all {
			addr, err := netip.ParseAddr(vip)
			if err != nil || !c.inMachineNetwork(addr) && v.LoadBalancer == nil {
				faults = append(faults, fault(field, "Invalid value: %q: IP expected to be in one of the machine networks", vip))
			}
			if families[addr.Is6()] {
				faults = append(faults, fault(field, "Invalid value: %q: only one VIP of a family can be specified", vip))
			}
			families[addr.Is6()] = true
		}
	}
	return errors.Join(faults...)
}

func join(list []string, one string) []string {
	if one != "" {
		list = append(list, one)
	}
	return list
}

func (v *vSphere) check() error {
	if v.VCenter != "" {
		return nil
	}
	if len(v.VCenters) == 0 || len(v.FailureDomains) == 0 {
		return fault("platform.vsphere", "Required value: must specify vcenters and failureDomains")
	}
	for _, d := range v.FailureDomains {
		if d.Server != v.VCenters[0].Server {
			return fault("platform.vsphere.failureDomains.server", "Invalid value: %q: server does not exist in vcenters", d.Server)
		}
	}
	return nil
}

func (n *nutanix) check() error {
	if len(n.PrismCentral) == 0 || len(n.PrismElements) == 0 || len(n.SubnetUUIDs) == 0 {
		return fault("platform.nutanix", "Required value: must specify prismCentral, prismElements and subnetUUIDs")
	}
	return nil
}

func (c *config) inMachineNetwork(addr netip.Addr) bool {
	for _, n := range c.Networking.MachineNetwork {
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && p.Contains(addr) {
			return true
		}
	}
	return false
}

func (c *config) checkMachines(machines []machine) error {
	const field = "platform.baremetal.hosts"
	if len(machines) < c.ControlPlane.Replicas+c.Compute[0].Replicas+c.arbiters() {
		return fault(
			field,
			"not enough hosts found (%d) to support all the configured ControlPlane (%d), Arbiter (%d) and Compute (%d) replicas",
			len(machines),
			c.ControlPlane.Replicas,
			c.arbiters(),
			c.Compute[0].Replicas,
		)
	}
	seen := map[string]bool{}
	for _, m := range machines {
		mac, err := net.ParseMAC(m.BootMACAddress)
		if err != nil || m.Name == "" || seen[mac.String()] || seen[m.Name] {
			return fault(field, "Invalid or duplicate value: %q %q", m.Name, m.BootMACAddress)
		}
		seen[mac.String()], seen[m.Name] = true, true
	}
	return nil
}
