package standin

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
		HostName                string `json:"hostname"`
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

// virtualAddresses are moved by the nodes of a platform themselves.
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
