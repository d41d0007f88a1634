package manifests

import (
	"net/netip"
	"slices"

	"slipway/internal/model"
)

// singleNodeDNS makes a single node resolve the names of its cluster itself. Only where the service is
// configured to: elsewhere its users create the DNS records.
func singleNodeDNS(in Input) ([]File, error) {
	c := in.Cluster
	if !c.SingleNode() || !in.Options.SingleNodeDNS {
		return nil, nil
	}
	address := nodeAddress(in)
	if !address.IsValid() {
		return nil, nil // it has no network yet that its name could refer to
	}
	data := map[string]any{"Domain": c.Name + "." + c.BaseDNSDomain, "Address": address}
	m := machineConfig{name: "50-master-dnsmasq-configuration", role: model.RoleMaster}
	for _, f := range []struct {
		path, template string
		mode           int
	}{
		{"/etc/dnsmasq.d/single-node.conf", "dnsmasq.conf", modeFile},
		{"/etc/NetworkManager/conf.d/single-node.conf", "networkmanager-unmanaged.conf", modeFile},
		{"/etc/NetworkManager/dispatcher.d/50-single-node-resolver", "resolver.sh", modeScript},
	} {
		content, err := fill(f.template, data)
		if err != nil {
			return nil, err
		}
		m.addFile(f.path, f.mode, content)
	}
	unit, err := fill("dnsmasq.service", data)
	if err != nil {
		return nil, err
	}
	m.addUnit("dnsmasq.service", unit)
	f, err := m.file("dnsmasq-bootstrap-in-place.yaml")
	return []File{f}, err
}

// nodeAddress returns an address of the control plane host in the first machine network.
func nodeAddress(in Input) netip.Addr {
	if len(in.Cluster.MachineNetworks) == 0 {
		return netip.Addr{}
	}
	network := in.Cluster.MachineNetworks[0]
	for _, h := range in.ofRole(model.RoleMaster) {
		if h.Inventory == nil {
			continue
		}
		for _, nic := range h.Inventory.Interfaces {
			for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
				if p, err := netip.ParsePrefix(cidr); err == nil && network.Contains(p.Addr()) {
					return p.Addr()
				}
			}
		}
	}
	return netip.Addr{}
}

// singleNodeAddress makes a single node take its address from the machine network.
func singleNodeAddress(in Input) ([]File, error) {
	c := in.Cluster
	if !c.SingleNode() || len(c.MachineNetworks) == 0 {
		return nil, nil
	}
	m := machineConfig{name: "10-masters-node-ip-hint", role: model.RoleMaster}
	m.addFile(
		"/etc/default/nodeip-configuration",
		modeFile,
		[]byte("KUBELET_NODEIP_HINT="+c.MachineNetworks[0].Masked().Addr().String()+"\n"),
	)
	f, err := m.file("node-ip-hint.yaml")
	return []File{f}, err
}
