// Package plan holds what the hosts of a bench cluster know about it: the installer of the bench writes it
// down, and the programs on the hosts read it.
package plan

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"
)

// Places on the hosts. The keys of all authorities ride along to the masters, where each
// makes its own certificates out of them: good enough for a bench, and for nothing else.
const (
	File        = "/etc/bench/cluster.json"
	Archives    = "/etc/bench/archives" // lines of SHA-256 and URL
	RuntimeFile = "/etc/bench/cri.json"
	Programs    = "/opt/bench/bin"
	Definitions = "/opt/bench/crds"
	Keys        = "/opt/bench/pki"
	OwnKeys     = "/var/lib/bench/pki"
	Snapshot    = "/var/lib/bench/etcd-snapshot.db"
	OpenShift   = "/opt/openshift"
	Done        = OpenShift + "/.bootkube.done"
	// ControlPlaneDone is left when masters carry the cluster.
	ControlPlaneDone = OpenShift + "/cb-bootstrap.done"
	// Fetched is on a host that has the programs of the bench.
	Fetched = "/opt/bench/.unpacked"
	// Voting is on a master whose member of etcd votes: a real one gets its control plane after that, too (the operators
	// of etcd and of the API server revise nodes one after the other).
	Voting = "/var/lib/bench/etcd-votes"
	// NodeImage is on a bootstrap host that has the programs of the release.
	NodeImage = "/run/bench/node-image"
	// FirstBoot is on a node until the operating system of its release is written, after which it boots once more.
	FirstBoot = "/etc/ignition-machine-config-encapsulated.json"
)

// Roles of hosts.
const (
	Bootstrap = "bootstrap"
	Master    = "master"
	Worker    = "worker"
)

// Archive holds programs (zstd, tar) that hosts fetch.
type Archive struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// Cluster is the cluster to be.
type Cluster struct {
	Name      string `json:"name"`
	Domain    string `json:"domain"` // with the name: bench.bench.example
	Version   string `json:"version"`
	Release   string `json:"release"` // image
	ClusterID string `json:"cluster_id"`
	// InPlace is a single node that was its own bootstrap host.
	InPlace         bool           `json:"in_place"`
	ControlPlane    int            `json:"control_plane"` // hosts
	Workers         int            `json:"workers"`
	MachineNetworks []netip.Prefix `json:"machine_networks"`
	ServiceNetworks []netip.Prefix `json:"service_networks"`
	ClusterNetworks []netip.Prefix `json:"cluster_networks"`
	APIVIPs         []netip.Addr   `json:"api_vips"`
	IngressVIPs     []netip.Addr   `json:"ingress_vips"`
	Masters         []string       `json:"masters"` // names, where the platform knows them
	Archives        []Archive      `json:"archives"`
	// Images are the programs that containers of these images run.
	Images map[string]string `json:"images"`
}

// Read reads the plan of this host.
func Read(file string) (*Cluster, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the plan of the cluster: %w", err)
	}
	var c Cluster
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("read the plan of the cluster: %w", err)
	}
	return &c, nil
}

// InternalName returns where hosts find API, etcd and machine config server.
func (c *Cluster) InternalName() string { return "api-int." + c.Domain }

// APINames lists all names of the API.
func (c *Cluster) APINames() []string { return []string{"api." + c.Domain, c.InternalName()} }

// Apps returns the domain of what the router serves.
func (c *Cluster) Apps() string { return "apps." + c.Domain }

// API returns the address of the API as a URL.
func (c *Cluster) API() string { return "https://" + c.InternalName() + ":6443" }

// ServiceAddress returns the address of the service "kubernetes": the first of the network.
func (c *Cluster) ServiceAddress() (netip.Addr, error) {
	if len(c.ServiceNetworks) == 0 {
		return netip.Addr{}, fmt.Errorf("require a service network, found none")
	}
	return c.ServiceNetworks[0].Masked().Addr().Next(), nil
}

// Join lists networks with commas between them.
func Join(networks []netip.Prefix) string {
	all := make([]string, len(networks))
	for i, n := range networks {
		all[i] = n.String()
	}
	return strings.Join(all, ",")
}
