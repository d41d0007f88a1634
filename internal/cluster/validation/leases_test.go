package validation_test

import (
	"time"

	"slipway/internal/model"
)

// leasing lets a DHCP server give the virtual addresses, asked since some time.
func leasing(since time.Duration) func(*clusterWorld) {
	return func(w *clusterWorld) {
		w.c.VIPDHCPAllocation, w.c.NetworkType = true, "OpenShiftSDN"
		w.c.APIVIPs, w.c.IngressVIPs = nil, nil
		w.c.LeaseSince, w.c.LeaseNetwork = now.Add(-since), w.c.MachineNetworks[0]
	}
}

var leaseCases = []clusterCase{
	{"waits two minutes for a DHCP server", "api-vips-defined", leasing(2 * time.Minute), waits, "leased"},
	{"fails when no DHCP server gave one by then", "api-vips-defined", leasing(121 * time.Second), fails, "within 2m0s"},
	{"waits two minutes for a DHCP server", "ingress-vips-defined", leasing(2 * time.Minute), waits, "leased"},
	{"fails when no DHCP server gave one by then", "ingress-vips-defined", leasing(121 * time.Second), fails, "within 2m0s"},
	{"waits for the network to lease in", "ingress-vips-defined", func(w *clusterWorld) {
		leasing(0)(w)
		w.c.MachineNetworks, w.c.LeaseSince = nil, time.Time{}
	}, waits, "machine network"},
	{"takes leased addresses with the plug-in that supports them", "network-type-valid", leasing(0), ok, ""},
}

// twoNodes gives the control plane two hosts.
func twoNodes(w *clusterWorld) {
	w.c.ControlPlaneCount, w.hosts = 2, w.hosts[:2]
	for _, h := range w.hosts {
		h.Role = model.RoleMaster
	}
}

func fenced(n int) func(*clusterWorld) {
	return func(w *clusterWorld) {
		twoNodes(w)
		for _, h := range w.hosts[:n] {
			h.Fencing = &model.FencingCredentials{Address: "redfish+https://bmc.example.com"}
		}
	}
}

var fencingCases = []clusterCase{
	{"fails with two control plane hosts alone", "sufficient-masters-count", twoNodes, fails, "arbiter or fencing"},
	{"passes with fencing on both", "sufficient-masters-count", fenced(2), ok, ""},
	{"fails with fencing on one of them", "sufficient-masters-count", fenced(1), fails, "fencing"},
	{"passes with an arbiter", "sufficient-masters-count", func(w *clusterWorld) {
		hosts := w.hosts[:3]
		twoNodes(w)
		w.hosts, hosts[2].Role = hosts, model.RoleArbiter
	}, ok, ""},
}
