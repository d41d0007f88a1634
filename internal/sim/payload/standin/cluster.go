package standin

import "slipway/internal/sim/payload/pki"

// Cluster is made by the program from an install-config and the manifests, for callers that make a bootstrap config themselves
// (Call.Bootstrap).
type Cluster struct {
	Name, Domain                      string // bench, bench.example.com
	ClusterID, Release                string // Release is the image
	ControlPlane, Workers             int    // replicas
	InPlace                           bool   // a single node that bootstraps itself
	MachineNetworks, ServiceNetworks  []string
	ClusterNetworks                   []string
	APIVIPs, IngressVIPs              []string
	Masters                           []string // names, on platforms that know their machines
	SSHKey                            string
	Root, APISigner, AdminSigner, MCS pki.Pair
	Admin                             pki.Pair
	// Files of the bootstrap host by path: manifests, kubeconfigs, certificates.
	Files map[string][]byte
}

// bootstrap makes the config of the bootstrap host.
func (r *run) bootstrap(s *state, manifests files, inPlace bool) ([]byte, error) {
	if r.starter == nil {
		return s.bootstrap(manifests, inPlace)
	}
	content, err := s.bootstrapFiles(manifests)
	if err != nil {
		return nil, err
	}
	c := s.cluster(inPlace)
	c.Files = content
	return r.starter(c)
}

func (s *state) cluster(inPlace bool) Cluster {
	c := Cluster{
		Name: s.Config.Metadata.Name, Domain: s.domain(), ClusterID: s.ClusterID, Release: s.Release,
		ControlPlane: s.Config.ControlPlane.Replicas, Workers: s.Config.Compute[0].Replicas, InPlace: inPlace,
		ServiceNetworks: s.Config.Networking.ServiceNetwork, SSHKey: s.Config.SSHKey,
		Root: s.PKI.Root, APISigner: s.PKI.APISigner, AdminSigner: s.PKI.AdminSigner, MCS: s.PKI.MCS, Admin: s.PKI.Admin,
	}
	for _, n := range s.Config.Networking.MachineNetwork {
		c.MachineNetworks = append(c.MachineNetworks, n.CIDR)
	}
	for _, n := range s.Config.Networking.ClusterNetwork {
		c.ClusterNetworks = append(c.ClusterNetworks, n.CIDR)
	}
	if metal := s.Config.Platform.BareMetal; metal != nil {
		c.APIVIPs = join(metal.APIVIPs, metal.APIVIP)
		c.IngressVIPs = join(metal.IngressVIPs, metal.IngressVIP)
		for _, m := range metal.Hosts {
			if m.Role == "master" {
				c.Masters = append(c.Masters, m.Name)
			}
		}
	}
	return c
}
