package manifests

import (
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
)

// singleNodeDNS makes a single node resolve the names of its cluster itself. Only where the service is
// configured to: elsewhere its users create the DNS records.
func singleNodeDNS(in Input) ([]File, error) {
	c := in.Cluster
	if !c.SingleNode() || !in.Options.SingleNodeDNS {
		return nil, nil
	}
	address := nodeaddress.Of(c, in.Hosts).Bootstrap
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

// singleNodeAddress makes a single node take its address from the machine network.
func singleNodeAddress(in Input) ([]File, error) {
	c := in.Cluster
	if !c.SingleNode() {
		return nil, nil
	}
	networks := nodeaddress.Of(c, in.Hosts).MachineNetworks
	if len(networks) == 0 {
		return nil, nil
	}
	m := machineConfig{name: "10-masters-node-ip-hint", role: model.RoleMaster}
	m.addFile(
		"/etc/default/nodeip-configuration",
		modeFile,
		[]byte("KUBELET_NODEIP_HINT="+networks[0].Masked().Addr().String()+"\n"),
	)
	f, err := m.file("node-ip-hint.yaml")
	return []File{f}, err
}
