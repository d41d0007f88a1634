package validation_test

import "slipway/internal/wire"

// waitingCases are of rules whose fact is not there yet.
var waitingCases = []hostCase{
	{"waits for the inventory", "inventory-not-partially-truncated", noInventory, waits, ""},
	{"waits for the inventory", "inventory-not-fully-truncated", noInventory, waits, ""},
	{"waits for the inventory", "has-min-cpu-cores", noInventory, waits, ""},
	{"waits for the inventory", "has-min-memory", noInventory, waits, ""},
	{"waits for the inventory", "has-min-valid-disks", noInventory, waits, ""},
	{"waits for the inventory", "has-cpu-cores-for-role", noInventory, waits, ""},
	{"waits for the inventory", "has-memory-for-role", noInventory, waits, ""},
	{"waits for the inventory", "hostname-unique", noInventory, waits, ""},
	{"waits for the inventory", "hostname-valid", noInventory, waits, ""},
	{"waits for the inventory", "has-default-route", noInventory, waits, ""},
	{"waits for the inventory", "non-overlapping-subnets", noInventory, waits, ""},
	{"waits for the inventory", "valid-platform-network-settings", noInventory, waits, ""},
	{"waits for the inventory", "no-skip-missing-disk", noInventory, waits, ""},
	{"waits for the inventory", "vsphere-disk-uuid-enabled", func(w *fixture) {
		w.c.Platform.Type = "vsphere"
		noInventory(w)
	}, waits, ""},
	{"waits for the inventory", "compatible-with-cluster-platform", noInventory, waits, ""},
	{"waits for the inventory", "no-ip-collisions-in-network", noInventory, waits, ""},
	{
		"errs without a reply",
		"api-int-domain-name-resolved-correctly",
		func(w *fixture) { userNetworking(w); w.h.DomainResolution = nil },
		errs,
		"",
	},
	{
		"errs without a reply",
		"apps-domain-name-resolved-correctly",
		func(w *fixture) { userNetworking(w); w.h.DomainResolution = nil },
		errs,
		"",
	},
	{"waits for the reply", "mtu-valid", func(w *fixture) { w.h.Connectivity = nil }, waits, ""},
	{"waits for the reply", "sufficient-network-latency-requirement-for-role", func(w *fixture) { w.h.Connectivity = nil }, waits, ""},
	{"waits for the reply", "sufficient-packet-loss-requirement-for-role", func(w *fixture) { w.h.Connectivity = nil }, waits, ""},
	{"has no limit for small workers that are given none", "sufficient-packet-loss-requirement-for-role", func(w *fixture) {
		w.h.Role, w.hosts[3].Role = "worker", "worker"
		w.inv.CPU.Architecture, w.inv.SystemVendor.ProductName = "aarch64", "BlueField SoC"
		relink(w, 2, func(r *wire.ConnectivityRemoteHost) { r.L3Connectivity[0].PacketLossPercentage = 50 })
	}, ok, ""},
}
