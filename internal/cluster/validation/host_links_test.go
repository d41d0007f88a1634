package validation_test

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

var dnsCases = []hostCase{
	{"needs no DNS with managed networking", "api-domain-name-resolved-correctly", nil, ok, ""},
	{
		"needs no DNS on a single node that serves its own",
		"api-domain-name-resolved-correctly",
		func(w *fixture) { userNetworking(w); singleNode(w) },
		ok,
		"",
	},
	{
		"errs without a reply",
		"api-domain-name-resolved-correctly",
		func(w *fixture) { userNetworking(w); w.h.DomainResolution = nil },
		errs,
		"",
	},
	{
		"errs without a domain",
		"api-domain-name-resolved-correctly",
		func(w *fixture) { userNetworking(w); w.c.BaseDNSDomain = "" },
		errs,
		"",
	},
	{"fails when the name does not resolve", "api-domain-name-resolved-correctly", userNetworking, fails, "api.test.example.com"},
	{"passes when it does", "api-domain-name-resolved-correctly", resolving("api.test.example.com", "10.1.1.1"), ok, ""},
	{
		"fails when it leads to the host itself",
		"api-domain-name-resolved-correctly",
		resolving("api.test.example.com", hostIP(0)),
		fails,
		"the host alone",
	},
	{"follows the cluster on day two", "api-domain-name-resolved-correctly", dayTwo, ok, ""},
	{"waits for the report on an imported cluster", "api-domain-name-resolved-correctly", imported(nil), waits, ""},
	{
		"needs no DNS in an imported cluster with managed networking",
		"api-domain-name-resolved-correctly",
		imported(&wire.APIVipConnectivityResponse{
			IsSuccess: true, Ignition: `{"storage":{"files":[{"path":"/etc/kubernetes/manifests/keepalived.yaml"}]}}`,
		}),
		ok,
		"managed",
	},
	{
		"fails in an imported cluster that resolves nothing", "api-domain-name-resolved-correctly",
		imported(&wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{}`}), fails, "api.test.example.com",
	},
	{"errs in an imported cluster without a domain", "api-domain-name-resolved-correctly", func(w *fixture) {
		imported(&wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{}`})(w)
		w.c.BaseDNSDomain = ""
	}, errs, ""},
	{
		"passes when the internal name resolves",
		"api-int-domain-name-resolved-correctly",
		resolving("api-int.test.example.com", "10.1.1.1"),
		ok,
		"",
	},
	{"fails when the internal name does not", "api-int-domain-name-resolved-correctly", userNetworking, fails, "api-int."},
	{
		"passes when the console resolves",
		"apps-domain-name-resolved-correctly",
		resolving("console-openshift-console.apps.test.example.com", "10.1.1.1"),
		ok,
		"",
	},
	{"fails when the console does not", "apps-domain-name-resolved-correctly", userNetworking, fails, "apps."},
	{
		"passes when the reply has the name in other letters", "api-domain-name-resolved-correctly",
		resolving("API.Test.Example.COM", "10.1.1.1"), ok, "",
	},
	{"passes when the name leads to an IPv6 address alone", "api-int-domain-name-resolved-correctly", func(w *fixture) {
		userNetworking(w)
		w.h.DomainResolution = answers(map[string]string{"api-int.test.example.com": ""})
		w.h.DomainResolution.Resolutions[0].Ipv6Addresses = []string{"2001:db8::100"}
	}, ok, ""},
	{"passes with an alias of an alias", "apps-domain-name-resolved-correctly", func(w *fixture) {
		userNetworking(w)
		w.h.DomainResolution = answers(map[string]string{"console-openshift-console.apps.test.example.com": ""})
		w.h.DomainResolution.Resolutions[0].Cnames = []string{"gtm.lb.example.com.", "pool-1.lb.example.com."}
	}, ok, "an alias of gtm.lb.example.com."},
	{
		"fails with the name of another cluster", "api-domain-name-resolved-correctly",
		resolving("api.other.example.com", "10.1.1.1"), fails, "",
	},
	{"passes without a wildcard", "dns-wildcard-not-configured", nil, ok, ""},
	{"waits for the reply", "dns-wildcard-not-configured", func(w *fixture) { w.h.DomainResolution = nil }, waits, ""},
	{
		"errs when the reply lacks the name",
		"dns-wildcard-not-configured",
		func(w *fixture) { w.h.DomainResolution = answers(nil) },
		errs,
		"",
	},
	{"fails with a wildcard", "dns-wildcard-not-configured", func(w *fixture) {
		w.h.DomainResolution = answers(map[string]string{"validateNoWildcardDNS.test.example.com.": "10.1.1.1"})
	}, fails, "10.1.1.1"},
	{"is fine on day two", "dns-wildcard-not-configured", dayTwo, ok, ""},
}

// imported makes the cluster an existing one that was not installed here.
func imported(reply *wire.APIVipConnectivityResponse) func(*fixture) {
	return func(w *fixture) {
		dayTwo(w)
		w.c.Imported, w.c.Kind, w.h.IgnitionDownload = true, model.KindAddHostsCluster, reply
	}
}

func resolving(name, addr string) func(*fixture) {
	return func(w *fixture) {
		userNetworking(w)
		w.h.DomainResolution = answers(map[string]string{name: addr})
	}
}

// relink changes what the host reports of one of the others.
func relink(w *fixture, other int, change func(*wire.ConnectivityRemoteHost)) {
	report(w.h, func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
		change(&links[other])
		return links
	})
}

func slow(w *fixture, other int, ms float64) {
	relink(w, other, func(r *wire.ConnectivityRemoteHost) { r.L3Connectivity[0].AverageRttMs = ms })
}

var connectivityCases = []hostCase{
	{"passes in the group", "belongs-to-majority-group", nil, ok, ""},
	{
		"fails outside the group",
		"belongs-to-majority-group",
		func(w *fixture) { w.c.Connectivity.Majority["192.168.8.0/21"] = nil },
		fails,
		"192.168.8.0/21",
	},
	{"asks the reports of the others", "belongs-to-majority-group", func(w *fixture) { w.h.Connectivity = nil }, ok, ""},
	{"fails without a common family", "belongs-to-majority-group", func(w *fixture) {
		userNetworking(w)
		w.c.Connectivity.L3ConnectedAddresses = nil
		w.hosts[1].Inventory.Interfaces = nil
	}, fails, "Require an IPv4 address of every host, node-1 has sent none"},
	{
		"waits for more hosts",
		"belongs-to-majority-group",
		func(w *fixture) { w.hosts = w.hosts[:2]; w.c.Connectivity.Majority = nil },
		waits,
		"found 2",
	},
	{"waits for the machine network", "belongs-to-majority-group", func(w *fixture) { w.c.MachineNetworks = nil }, waits, ""},
	{"fails with two hosts that are enough with fencing", "belongs-to-majority-group", func(w *fixture) {
		w.hosts, w.c.ControlPlaneCount = w.hosts[:2], 2
		for _, h := range w.hosts {
			h.Fencing = &model.FencingCredentials{}
		}
		w.c.Connectivity.Majority = nil
	}, fails, ""},
	{"needs no group on a single node", "belongs-to-majority-group", func(w *fixture) { singleNode(w); w.h.Connectivity = nil }, ok, ""},
	{"passes with an address others reach", "belongs-to-majority-group", userNetworking, ok, ""},
	{
		"fails without an address others reach",
		"belongs-to-majority-group",
		func(w *fixture) { userNetworking(w); w.c.Connectivity.L3ConnectedAddresses = nil },
		fails,
		"IPv4",
	},
	{"passes when large packets arrive", "mtu-valid", nil, ok, ""},
	{"waits for its own check", "mtu-valid", func(w *fixture) { w.h.Connectivity = nil }, waits, ""},
	{"fails when large packets are lost", "mtu-valid", func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) { r.MtuReport[0].MtuSuccessful = false })
	}, fails, "node-1 over eth0"},
	{"ignores networks the cluster does not use", "mtu-valid", func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) {
			r.MtuReport[0] = wire.MtuReport{OutgoingNic: "eth7", RemoteIPAddress: "10.3.3.3"}
		})
	}, ok, ""},
	{"does not concern a single node", "mtu-valid", singleNode, absent, ""},
	{"passes on fast links", "sufficient-network-latency-requirement-for-role", nil, ok, ""},
	{
		"fails on a slow link to a master",
		"sufficient-network-latency-requirement-for-role",
		func(w *fixture) { slow(w, 1, 101) },
		fails,
		"node-2",
	},
	{"ignores slow links to other roles", "sufficient-network-latency-requirement-for-role", func(w *fixture) { slow(w, 3, 900) }, ok, ""},
	{"allows workers more", "sufficient-network-latency-requirement-for-role", func(w *fixture) {
		for _, h := range w.hosts {
			h.Role = model.RoleWorker
		}
		slow(w, 1, 900)
	}, ok, ""},
	{"waits for its own check", "sufficient-network-latency-requirement-for-role", func(w *fixture) { w.h.Connectivity = nil }, waits, ""},
	{
		"needs no check without another host",
		"sufficient-network-latency-requirement-for-role",
		func(w *fixture) { w.hosts = w.hosts[:1]; w.h.Connectivity = nil },
		ok,
		"",
	},
	{"passes without loss", "sufficient-packet-loss-requirement-for-role", nil, ok, ""},
	{"fails with any loss between masters", "sufficient-packet-loss-requirement-for-role", func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) { r.L3Connectivity[0].PacketLossPercentage = 1 })
	}, fails, "at most 0 %"},
	{
		"passes when an address of IPv6 that the cluster does not use is not answered", "sufficient-packet-loss-requirement-for-role",
		unanswered("2001:db8::11"), ok, "",
	},
	{"passes when a storage network is not answered", "sufficient-packet-loss-requirement-for-role", unanswered("10.3.3.3"), ok, ""},
	{"passes with the reply of an agent that counts no loss then", "sufficient-packet-loss-requirement-for-role", func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) {
			r.L3Connectivity = append(r.L3Connectivity, wire.L3Connectivity{RemoteIPAddress: "10.3.3.3"})
		})
	}, ok, ""},
	{"fails when half of the packets over IPv6 are lost", "sufficient-packet-loss-requirement-for-role", func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) {
			r.L3Connectivity = append(r.L3Connectivity, wire.L3Connectivity{
				RemoteIPAddress: "2001:db8::11", Successful: true, AverageRttMs: 1, PacketLossPercentage: 50,
			})
		})
	}, fails, "at most 0 %"},
	{"is not limited before the role is known", "sufficient-packet-loss-requirement-for-role", func(w *fixture) {
		w.h.Role = model.RoleAutoAssign
		w.h.Connectivity = nil
	}, ok, ""},
}

// unanswered adds an address that does not answer at all.
func unanswered(address string) func(*fixture) {
	return func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) {
			r.L3Connectivity = append(r.L3Connectivity, wire.L3Connectivity{RemoteIPAddress: address, PacketLossPercentage: 100})
		})
	}
}
