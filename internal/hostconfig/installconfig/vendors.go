package installconfig

// Placeholders are values that only the owner of a virtualization platform has. The cluster starts with them;
// its users set the true values afterwards, or override them before.
const (
	placeholder        = "placeholder"
	placeholderAddress = "placeholder.invalid"
	placeholderUUID    = "00000000-0000-0000-0000-000000000000"
	placeholderPort    = 9440 // of Prism Central
)

// VSphere is a platform of VMware. OpenShift 4.13 and later reads VCenters and
// FailureDomains, older releases the fields of one vCenter.
type VSphere struct {
	VCenter          string                 `json:"vCenter,omitempty"`
	Username         string                 `json:"username,omitempty"`
	Password         string                 `json:"password,omitempty"`
	Datacenter       string                 `json:"datacenter,omitempty"`
	DefaultDatastore string                 `json:"defaultDatastore,omitempty"`
	Folder           string                 `json:"folder,omitempty"`
	Cluster          string                 `json:"cluster,omitempty"`
	ResourcePool     string                 `json:"resourcePool,omitempty"`
	Network          string                 `json:"network,omitempty"`
	DiskType         string                 `json:"diskType,omitempty"`
	ClusterOSImage   string                 `json:"clusterOSImage,omitempty"`
	VCenters         []VCenter              `json:"vcenters,omitempty"`
	FailureDomains   []VSphereFailureDomain `json:"failureDomains,omitempty"`
	APIVIP           string                 `json:"apiVIP,omitempty"`
	IngressVIP       string                 `json:"ingressVIP,omitempty"`
	APIVIPs          []string               `json:"apiVIPs,omitempty"`
	IngressVIPs      []string               `json:"ingressVIPs,omitempty"`
	LoadBalancer     *LoadBalancer          `json:"loadBalancer,omitempty"`
}

// VCenter is a server that manages virtual machines.
type VCenter struct {
	Server      string   `json:"server"`
	Port        int      `json:"port,omitempty"`
	User        string   `json:"user"`
	Password    string   `json:"password"`
	Datacenters []string `json:"datacenters"`
}

// VSphereFailureDomain is a part of a vCenter that fails as a whole.
type VSphereFailureDomain struct {
	Name       string          `json:"name"`
	Region     string          `json:"region"`
	Zone       string          `json:"zone"`
	RegionType string          `json:"regionType,omitempty"`
	ZoneType   string          `json:"zoneType,omitempty"`
	Server     string          `json:"server"`
	Topology   VSphereTopology `json:"topology"`
}

// VSphereTopology names the objects of a failure domain.
type VSphereTopology struct {
	Datacenter     string   `json:"datacenter"`
	ComputeCluster string   `json:"computeCluster"`
	Networks       []string `json:"networks"`
	Datastore      string   `json:"datastore"`
	ResourcePool   string   `json:"resourcePool,omitempty"`
	Folder         string   `json:"folder,omitempty"`
	Template       string   `json:"template,omitempty"`
	TagIDs         []string `json:"tagIDs,omitempty"`
	HostGroup      string   `json:"hostGroup,omitempty"`
}

// Nutanix is a platform of Nutanix.
type Nutanix struct {
	PrismCentral   PrismCentral           `json:"prismCentral"`
	PrismElements  []PrismElement         `json:"prismElements"`
	SubnetUUIDs    []string               `json:"subnetUUIDs"`
	ClusterOSImage string                 `json:"clusterOSImage,omitempty"`
	FailureDomains []NutanixFailureDomain `json:"failureDomains,omitempty"`
	APIVIP         string                 `json:"apiVIP,omitempty"`
	IngressVIP     string                 `json:"ingressVIP,omitempty"`
	APIVIPs        []string               `json:"apiVIPs,omitempty"`
	IngressVIPs    []string               `json:"ingressVIPs,omitempty"`
	LoadBalancer   *LoadBalancer          `json:"loadBalancer,omitempty"`
}

// PrismCentral manages the clusters of Nutanix.
type PrismCentral struct {
	Endpoint PrismEndpoint `json:"endpoint"`
	Username string        `json:"username"`
	Password string        `json:"password"`
}

// PrismElement manages a Nutanix cluster.
type PrismElement struct {
	UUID     string        `json:"uuid"`
	Name     string        `json:"name,omitempty"`
	Endpoint PrismEndpoint `json:"endpoint"`
}

// PrismEndpoint is the address of a Prism Central or Prism Element.
type PrismEndpoint struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// NutanixFailureDomain is a cluster of Nutanix that fails as a whole.
type NutanixFailureDomain struct {
	Name         string       `json:"name"`
	PrismElement PrismElement `json:"prismElement"`
	SubnetUUIDs  []string     `json:"subnetUUIDs"`
}

func (b *builder) vSphere() (Platform, error) {
	p := &VSphere{LoadBalancer: b.loadBalancer()}
	p.APIVIP, p.APIVIPs, p.IngressVIP, p.IngressVIPs = b.vips()
	if !b.atLeast("4.13") {
		p.VCenter, p.Username, p.Password = placeholderAddress, placeholder, placeholder
		p.Datacenter, p.DefaultDatastore, p.Cluster, p.Network = placeholder, placeholder, placeholder, placeholder
		return Platform{VSphere: p}, nil
	}
	p.VCenters = []VCenter{{
		Server: placeholderAddress, User: placeholder, Password: placeholder, Datacenters: []string{placeholder},
	}}
	p.FailureDomains = []VSphereFailureDomain{{
		Name: "assisted-generated-failure-domain", Region: "assisted-generated-region", Zone: "assisted-generated-zone",
		Server: placeholderAddress,
		Topology: VSphereTopology{
			Datacenter: placeholder, ComputeCluster: "/" + placeholder + "/host/" + placeholder, Networks: []string{placeholder},
			Datastore: "/" + placeholder + "/datastore/" + placeholder, Folder: "/" + placeholder + "/vm/" + placeholder,
		},
	}}
	return Platform{VSphere: p}, nil
}

func (b *builder) nutanix() (Platform, error) {
	endpoint := PrismEndpoint{Address: placeholderAddress, Port: placeholderPort}
	p := &Nutanix{
		PrismCentral:  PrismCentral{Endpoint: endpoint, Username: placeholder, Password: placeholder},
		PrismElements: []PrismElement{{UUID: placeholderUUID, Name: placeholder, Endpoint: endpoint}},
		SubnetUUIDs:   []string{placeholderUUID},
		LoadBalancer:  b.loadBalancer(),
	}
	p.APIVIP, p.APIVIPs, p.IngressVIP, p.IngressVIPs = b.vips()
	return Platform{Nutanix: p}, nil
}
