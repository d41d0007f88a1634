package installconfig

import (
	"cmp"
	"encoding/json"
	"slices"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

// Platform is the platform of the cluster; exactly one field is set.
type Platform struct {
	BareMetal *BareMetal `json:"baremetal,omitempty"`
	None      *struct{}  `json:"none,omitempty"`
	VSphere   *VSphere   `json:"vsphere,omitempty"`
	Nutanix   *Nutanix   `json:"nutanix,omitempty"`
	External  *External  `json:"external,omitempty"`
}

// External is a platform without support by OpenShift itself.
type External struct {
	PlatformName           string `json:"platformName"`
	CloudControllerManager string `json:"cloudControllerManager,omitempty"`
}

// BareMetal is a platform whose VIPs the cluster moves itself.
type BareMetal struct {
	ProvisioningNetwork          string          `json:"provisioningNetwork"`
	APIVIP                       string          `json:"apiVIP,omitempty"`
	IngressVIP                   string          `json:"ingressVIP,omitempty"`
	APIVIPs                      []string        `json:"apiVIPs,omitempty"`
	IngressVIPs                  []string        `json:"ingressVIPs,omitempty"`
	Hosts                        []BareMetalHost `json:"hosts"`
	LoadBalancer                 *LoadBalancer   `json:"loadBalancer,omitempty"`
	AdditionalNTPServers         []string        `json:"additionalNTPServers,omitempty"`
	ClusterOSImage               string          `json:"clusterOSImage,omitempty"`
	ClusterProvisioningIP        string          `json:"clusterProvisioningIP,omitempty"`
	ExternalBridge               string          `json:"externalBridge,omitempty"`
	ProvisioningBridge           string          `json:"provisioningBridge,omitempty"`
	ProvisioningNetworkCIDR      string          `json:"provisioningNetworkCIDR,omitempty"`
	ProvisioningNetworkInterface string          `json:"provisioningNetworkInterface,omitempty"`
	ProvisioningDHCPRange        string          `json:"provisioningDHCPRange,omitempty"`
}

// LoadBalancer is set when the user balances the load of the API and the routes.
type LoadBalancer struct {
	Type string `json:"type"`
}

// BareMetalHost is a node that the bare metal operator manages.
type BareMetalHost struct {
	Name            string          `json:"name"`
	Role            string          `json:"role"`
	BootMACAddress  string          `json:"bootMACAddress"`
	BootMode        string          `json:"bootMode"` // UEFI, UEFISecureBoot or legacy
	BMC             BMC             `json:"bmc"`
	HardwareProfile string          `json:"hardwareProfile"`
	RootDeviceHints json.RawMessage `json:"rootDeviceHints,omitempty"`
	NetworkConfig   json.RawMessage `json:"networkConfig,omitempty"`
}

// BMC is the management controller of a host; if empty, the user adds it after the installation.
type BMC struct {
	Username                       string `json:"username"`
	Password                       string `json:"password"`
	Address                        string `json:"address"`
	DisableCertificateVerification bool   `json:"disableCertificateVerification"`
}

// platforms build the part of each platform, by its name in the model.
var platforms = map[string]func(*builder) (Platform, error){
	"baremetal": (*builder).bareMetal,
	"none":      func(*builder) (Platform, error) { return Platform{None: &struct{}{}}, nil },
	"vsphere":   (*builder).vSphere,
	"nutanix":   (*builder).nutanix,
	"external":  (*builder).external,
}

func (b *builder) platform() (Platform, error) {
	build, ok := platforms[b.cluster.Platform.Type]
	if !ok {
		return Platform{}, model.Unprocessablef(
			"require platform baremetal, none, vsphere, nutanix or external, found %q",
			b.cluster.Platform.Type,
		)
	}
	return build(b)
}

func (b *builder) external() (Platform, error) {
	p := b.cluster.Platform
	return Platform{External: &External{PlatformName: p.ExternalName, CloudControllerManager: p.CloudControllerManager}}, nil
}

func (b *builder) bareMetal() (Platform, error) {
	p := &BareMetal{ProvisioningNetwork: "Disabled", Hosts: []BareMetalHost{}, LoadBalancer: b.loadBalancer()}
	p.APIVIP, p.APIVIPs, p.IngressVIP, p.IngressVIPs = b.vips()
	if b.atLeast("4.18") {
		p.AdditionalNTPServers = b.cluster.NTPSources
		if len(p.AdditionalNTPServers) == 0 {
			p.AdditionalNTPServers = b.opts.NTPSources
		}
	}
	for _, h := range b.hosts {
		p.Hosts = append(p.Hosts, b.bareMetalHost(h))
	}
	slices.SortStableFunc(p.Hosts, compareHosts)
	return Platform{BareMetal: p}, nil
}

// vips returns the virtual addresses: one API and one ingress address before 4.12, which does not support lists.
func (b *builder) vips() (api string, apis []string, ingress string, ingresses []string) {
	apis, ingresses = vips(b.cluster.APIVIPs), vips(b.cluster.IngressVIPs)
	if b.atLeast("4.12") {
		return "", apis, "", ingresses
	}
	if len(apis) > 0 {
		api = apis[0]
	}
	if len(ingresses) > 0 {
		ingress = ingresses[0]
	}
	return api, nil, ingress, nil
}

// loadBalancer returns the setting of a cluster that does not balance the load itself, else nil.
func (b *builder) loadBalancer() *LoadBalancer {
	if b.cluster.LoadBalancer != "user-managed" {
		return nil
	}
	return &LoadBalancer{Type: "UserManaged"}
}

func vips(all []model.VIP) []string {
	var ips []string
	for _, v := range all {
		ips = append(ips, v.IP.String())
	}
	return ips
}

func (b *builder) bareMetalHost(h *model.Host) BareMetalHost {
	host := BareMetalHost{Name: h.Hostname(), Role: string(h.EffectiveRole()), BootMode: "legacy", BootMACAddress: b.bootMAC(h)}
	if h.Inventory != nil && h.Inventory.Boot.CurrentBootMode == "uefi" {
		host.BootMode = "UEFI"
	}
	return host
}

// bootMAC returns the address of the interface in the machine networks; of the first interface when there is
// none, so that the host has an identity at all.
func (b *builder) bootMAC(h *model.Host) string {
	if h.Inventory == nil || len(h.Inventory.Interfaces) == 0 {
		return ""
	}
	nic := hardware.FirstIn(hardware.NICs(h.Inventory), b.machineNetworks)
	return h.Inventory.Interfaces[max(nic, 0)].MacAddress
}

// compareHosts puts masters first, then orders by name: the installer numbers its manifests in this order,
// which must not depend on the order of registration.
func compareHosts(a, b BareMetalHost) int {
	if am, bm := a.Role == string(model.RoleMaster), b.Role == string(model.RoleMaster); am != bm {
		if am {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Name, b.Name)
}
