package validation_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const version = "4.22.0"

var now = time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)

func hostID(i int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
}

func hostIP(i int) string { return fmt.Sprintf("192.168.%d.%d", 8+i/250, 10+i%250) }

// newHost makes a host that passes every rule of newCluster.
func newHost(i int) *model.Host {
	role := model.RoleMaster
	if i >= 3 {
		role = model.RoleWorker
	}
	disk := wire.Disk{
		ID: "/dev/disk/by-id/wwn-0x1", ByID: "/dev/disk/by-id/wwn-0x1", ByPath: "/dev/disk/by-path/pci-1", Name: "sda", Path: "/dev/sda",
		DriveType: wire.DriveTypeSSD, SizeBytes: 256e9, Bootable: true, HasUUID: true,
	}
	disk.InstallationEligibility.Eligible = true
	inv := &wire.Inventory{
		Hostname: fmt.Sprintf("node-%d", i),
		CPU:      wire.CPU{Architecture: "x86_64", Count: 16},
		Memory:   wire.Memory{PhysicalBytes: 64 << 30, UsableBytes: 64 << 30, PhysicalBytesMethod: wire.Dmidecode},
		Disks:    []wire.Disk{disk},
		Interfaces: []wire.Interface{{
			Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:%02X:%02X", i/256, i%256), Mtu: 1500, Type: "physical",
			Ipv4Addresses: []string{hostIP(i) + "/21"}, Ipv6Addresses: []string{"fe80::1/64"},
		}},
		Routes:       []wire.Route{{Family: 2, Interface: "eth0", Gateway: "192.168.8.1", Destination: "0.0.0.0"}},
		SystemVendor: wire.SystemVendor{Manufacturer: "Dell", ProductName: "R640"},
		TpmVersion:   wire.InventoryTpmVersionN20,
	}
	clusterID := uuid.UUID{1}
	return &model.Host{
		ID: hostID(i), InfraEnvID: uuid.UUID{2}, ClusterID: &clusterID, Kind: model.KindHost,
		Status: model.HostKnown, Role: role, CheckedInAt: now.Add(-time.Minute), Timestamp: now.Add(-time.Minute).Unix(),
		MediaStatus: model.MediaConnected, Inventory: inv,
		NTPSources:           []wire.NtpSource{{SourceName: "ntp.example.com", SourceState: wire.SourceStateSynced}},
		InstallationDiskID:   disk.ID,
		InstallationDiskPath: "/dev/sda",
		DomainResolution: answers(
			map[string]string{"validateNoWildcardDNS.test.example.com.": "", "validateNoWildcardDNS.test.example.com": ""},
		),
	}
}

type resolutions = []struct {
	Cnames        []string `json:"cnames,omitempty,omitzero"`
	DomainName    string   `json:"domain_name"`
	Ipv4Addresses []string `json:"ipv4_addresses,omitempty,omitzero"`
	Ipv6Addresses []string `json:"ipv6_addresses,omitempty,omitzero"`
}

// answers makes a reply in which each name leads to an address, or none.
func answers(names map[string]string) *wire.DomainResolutionResponse {
	out := &wire.DomainResolutionResponse{}
	out.Resolutions = make(resolutions, 0, len(names))
	for name, addr := range names {
		out.Resolutions = append(out.Resolutions, resolutions{{DomainName: name}}...)
		if addr != "" {
			out.Resolutions[len(out.Resolutions)-1].Ipv4Addresses = []string{addr}
		}
	}
	return out
}

func newCluster() *model.Cluster {
	return &model.Cluster{
		ID: uuid.UUID{1}, Kind: model.KindCluster, Name: "test", Status: model.ClusterReady, PullSecret: "{}",
		OpenShiftVersion: version, CPUArchitecture: "x86_64", BaseDNSDomain: "example.com", ControlPlaneCount: 3,
		Platform: model.Platform{Type: "baremetal"}, NetworkType: "OVNKubernetes",
		APIVIPs:         []model.VIP{{IP: netip.MustParseAddr("192.168.8.5"), Verification: "succeeded"}},
		IngressVIPs:     []model.VIP{{IP: netip.MustParseAddr("192.168.8.6"), Verification: "succeeded"}},
		MachineNetworks: prefixes("192.168.8.0/21"),
		ClusterNetworks: openshift.DefaultClusterNetworks(false), ServiceNetworks: openshift.DefaultServiceNetworks(false),
	}
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// fleet makes a cluster of hosts that all reach each other and pass every rule.
func fleet(n int) (*model.Cluster, []*model.Host) {
	hosts := make([]*model.Host, n)
	for i := range hosts {
		hosts[i] = newHost(i)
	}
	for i, h := range hosts {
		var report wire.ConnectivityReport
		for j, other := range hosts {
			if i != j {
				report.RemoteHosts = append(report.RemoteHosts, link(other, hostIP(j)))
			}
		}
		h.Connectivity = model.PackConnectivity(report)
	}
	c := newCluster()
	c.Connectivity = validation.Connectivity(c, hosts)
	return c, hosts
}

// report changes what a host reports of its links.
func report(h *model.Host, change func([]wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost) {
	h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{RemoteHosts: change(h.Connectivity.Unpack().RemoteHosts)})
}

func link(to *model.Host, addr string) wire.ConnectivityRemoteHost {
	return wire.ConnectivityRemoteHost{
		HostID: to.ID,
		L2Connectivity: []wire.L2Connectivity{{
			OutgoingNic: "eth0", RemoteIPAddress: addr, RemoteMac: to.Inventory.Interfaces[0].MacAddress, Successful: true,
		}},
		L3Connectivity: []wire.L3Connectivity{{OutgoingNic: "eth0", RemoteIPAddress: addr, AverageRttMs: 0.5, Successful: true}},
		MtuReport:      []wire.MtuReport{{OutgoingNic: "eth0", RemoteIPAddress: addr, MtuSuccessful: true}},
	}
}

// hostFacts makes the facts of the first host of a fleet.
func hostFacts(c *model.Cluster, hosts []*model.Host) validation.HostFacts {
	return validation.HostFacts{
		Host: hosts[0], Cluster: c, Peers: validation.NewPeers(c, hosts),
		Requirements: openshift.RequirementsFor(version), Options: validation.DefaultOptions(), Now: now,
	}
}

func find(results []model.ValidationResult, id string) (model.ValidationResult, bool) {
	for _, r := range results {
		if r.ID == id {
			return r, true
		}
	}
	return model.ValidationResult{}, false
}

// disk makes a disk that can be installed to.
func disk(name string, drive wire.DriveType, change ...func(*wire.Disk)) wire.Disk {
	d := wire.Disk{Name: name, Path: "/dev/" + name, DriveType: drive, SizeBytes: 200e9}
	d.InstallationEligibility.Eligible = true
	for _, c := range change {
		c(&d)
	}
	return d
}
