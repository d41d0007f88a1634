package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// The tests of this file are verdicts of openshift/assisted-service at 063b257 on the same input, or say where and
// why ours is another one (docs/compatibility.md, "Validations").

func requireVerdicts(t *testing.T, cases []hostCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.evaluate()
			require.Equal(t, tt.want, got.Status, got.Message)
			require.Contains(t, got.Message, tt.says)
		})
	}
}

// aliasOnly resolves names to another name, which does not resolve.
func aliasOnly(names ...string) func(*fixture) {
	return func(w *fixture) {
		userNetworking(w)
		w.h.DomainResolution = answers(nil)
		for _, name := range names {
			w.h.DomainResolution.Resolutions = append(w.h.DomainResolution.Resolutions,
				resolutions{{DomainName: name, Cnames: []string{"elsewhere.example.com."}}}...)
		}
	}
}

// internal/host/validator.go: an alias is an answer. A load balancer by DNS has no address until the installation has brought a
// member of its pool up.
func TestVerdictsOfNamesThatAreAliases(t *testing.T) {
	t.Parallel()
	requireVerdicts(t, []hostCase{
		{
			"passes with an alias alone", "api-domain-name-resolved-correctly", aliasOnly("api.test.example.com"), ok,
			"api.test.example.com is an alias of elsewhere.example.com., which has no address yet",
		},
		{"passes with an alias alone", "api-int-domain-name-resolved-correctly", aliasOnly("api-int.test.example.com"), ok, "api-int"},
		{
			"passes with an alias alone", "apps-domain-name-resolved-correctly",
			aliasOnly("console-openshift-console.apps.test.example.com"), ok, "console",
		},
		{"fails without either", "api-domain-name-resolved-correctly", func(w *fixture) {
			aliasOnly("api.test.example.com")(w)
			w.h.DomainResolution.Resolutions[0].Cnames = nil
		}, fails, "Require api.test.example.com to resolve, found no address and no alias"},
		{"passes with an alias and its address", "api-domain-name-resolved-correctly", func(w *fixture) {
			aliasOnly("api.test.example.com")(w)
			w.h.DomainResolution.Resolutions[0].Ipv4Addresses = []string{"10.1.1.1"}
		}, ok, ""},
		{"passes with an address and its prefix length", "api-domain-name-resolved-correctly", func(w *fixture) {
			aliasOnly("api.test.example.com")(w)
			w.h.DomainResolution.Resolutions[0].Cnames = nil
			w.h.DomainResolution.Resolutions[0].Ipv6Addresses = []string{"2001:db8::7/64"}
		}, ok, ""},
		{"fails with a text that is no address", "api-domain-name-resolved-correctly", func(w *fixture) {
			aliasOnly("api.test.example.com")(w)
			w.h.DomainResolution.Resolutions[0].Cnames = nil
			w.h.DomainResolution.Resolutions[0].Ipv4Addresses = []string{"none/24"}
		}, fails, "found no address"},
	})
}

// internal/host/validator.go: a wildcard may be an alias.
func TestVerdictsOfWildcardsThatAreAliases(t *testing.T) {
	t.Parallel()
	const name = "validateNoWildcardDNS.test.example.com"
	requireVerdicts(t, []hostCase{
		{
			"fails with an alias", "dns-wildcard-not-configured", aliasOnly(name+".", name), fails,
			"Require no wildcard in test.example.com, validateNoWildcardDNS.test.example.com. resolves to elsewhere.example.com.",
		},
		{"fails with an alias of the second name", "dns-wildcard-not-configured", func(w *fixture) {
			aliasOnly(name)(w)
			w.h.DomainResolution.Resolutions = append(w.h.DomainResolution.Resolutions, resolutions{{DomainName: name + "."}}...)
		}, fails, "resolves to elsewhere.example.com."},
		{"errs without one of the names", "dns-wildcard-not-configured", aliasOnly(name), errs, "."},
		{"passes on day two", "dns-wildcard-not-configured", func(w *fixture) { aliasOnly(name+".", name)(w); dayTwo(w) }, ok, ""},
	})
}

// internal/host/validator.go compares the networks of one NIC with each other too. A link with an address by router advertisement and
// another by DHCPv6 has two, and works.
func TestVerdictsOfNetworksOfOneNIC(t *testing.T) {
	t.Parallel()
	requireVerdicts(t, []hostCase{
		{"passes with addresses by router advertisement and DHCPv6", "non-overlapping-subnets", func(w *fixture) {
			w.c.MachineNetworks = prefixes("192.168.8.0/21", "fd00::/64")
			w.inv.Interfaces[0].Ipv6Addresses = []string{"fd00::5054:ff:fe00:1/64", "fd00::11/128"}
		}, ok, ""},
		{"passes with two addresses of a network", "non-overlapping-subnets", func(w *fixture) {
			w.inv.Interfaces[0].Ipv4Addresses = []string{hostIP(0) + "/21", "192.168.8.200/21"}
		}, ok, ""},
		{"fails on two NICs", "non-overlapping-subnets", func(w *fixture) {
			w.inv.Interfaces = append(w.inv.Interfaces, wire.Interface{Name: "eth1", Ipv4Addresses: []string{"192.168.8.200/21"}})
		}, fails, "eth1"},
	})
}

// internal/network/machine_network_cidr.go refuses the broadcast address only. A network's own address is no host's, and ::0 belongs to
// its routers (RFC 4291, 2.6.1).
func TestVerdictsOfVirtualAddressesOfNoHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		network, address string
		want             model.ValidationStatus
	}{
		"the first of IPv4":     {"192.168.8.0/21", "192.168.8.0", fails},
		"the last of IPv4":      {"192.168.8.0/21", "192.168.15.255", fails},
		"the first of IPv6":     {"fd00::/64", "fd00::", fails},
		"the last of IPv6":      {"fd00::/64", "fd00::ffff:ffff:ffff:ffff", ok},
		"another one":           {"192.168.8.0/21", "192.168.9.0", ok},
		"another one, of IPv6 ": {"fd00::/64", "fd00::5", ok},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, id := range []string{"api-vips-valid", "ingress-vips-valid"} {
				got := clusterCase{id: id, change: func(w *clusterWorld) {
					w.c.MachineNetworks = prefixes(c.network)
					w.c.APIVIPs, w.c.IngressVIPs = vip(c.address), vip(c.address)
					w.c.APIVIPs[0].Verification, w.c.IngressVIPs[0].Verification = "succeeded", "succeeded"
				}}.evaluate()
				require.Equal(t, c.want, got.Status, got.Message)
			}
		})
	}
}

// internal/host/validator.go: hosts of a later day report on no peers.
func TestVerdictsOfPacketSizesOnDayTwo(t *testing.T) {
	t.Parallel()
	lost := func(w *fixture) {
		relink(w, 0, func(r *wire.ConnectivityRemoteHost) { r.MtuReport[0].MtuSuccessful = false })
	}
	requireVerdicts(t, []hostCase{
		{"passes on day two without a report", "mtu-valid", func(w *fixture) { dayTwo(w); w.h.Connectivity = nil }, ok, ""},
		{"passes on day two with a bad one", "mtu-valid", func(w *fixture) { dayTwo(w); lost(w) }, ok, ""},
		{"waits for the inventory on day two", "mtu-valid", func(w *fixture) { dayTwo(w); noInventory(w) }, waits, ""},
		{"fails before", "mtu-valid", lost, fails, "node-1"},
	})
}

// internal/cluster/validator.go reports a failure while an address is being leased. Nothing is wrong until the
// limit of the lease: ours waits.
func TestVerdictsOfAddressesThatAreBeingLeased(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"api-vips-defined", "ingress-vips-defined"} {
		got := clusterCase{id: id, change: func(w *clusterWorld) {
			w.c.APIVIPs, w.c.IngressVIPs, w.c.VIPDHCPAllocation = nil, nil, true
			w.c.LeaseSince, w.c.LeaseNetwork = now, w.c.MachineNetworks[0]
		}}.evaluate()
		require.Equal(t, waits, got.Status, got.Message)
		got = clusterCase{id: id, change: func(w *clusterWorld) {
			w.c.APIVIPs, w.c.IngressVIPs, w.c.VIPDHCPAllocation = nil, nil, true
			w.c.LeaseSince, w.c.LeaseNetwork = now.Add(-24*60*60e9), w.c.MachineNetworks[0]
		}}.evaluate()
		require.Equal(t, fails, got.Status, got.Message)
	}
}

// internal/provider/external/oci.go compares the manufacturer, where the agent puts the asset tag of the chassis.
func TestVerdictsOfOraclesMachines(t *testing.T) {
	t.Parallel()
	made := func(by string) func(*fixture) {
		return func(w *fixture) {
			w.c.Platform = model.Platform{Type: "external", ExternalName: "oci"}
			w.inv.SystemVendor.Manufacturer = by
		}
	}
	requireVerdicts(t, []hostCase{
		{"passes in Oracle's cloud", "compatible-with-cluster-platform", made("OracleCloud.com"), ok, ""},
		{"fails on a server of Oracle's in a rack", "compatible-with-cluster-platform", made("Oracle Corporation"), fails, "OracleCloud.com"},
		{"fails on others", "compatible-with-cluster-platform", made("Dell Inc."), fails, ""},
		{"waits for the inventory", "compatible-with-cluster-platform", func(w *fixture) { made("")(w); noInventory(w) }, waits, ""},
	})
}

// internal/host/validator.go: the configuration of the cluster's workers is the same for all hosts, so the first
// host that fetched it shows who resolves the names.
func TestVerdictsOfNamesOfImportedClusters(t *testing.T) {
	t.Parallel()
	managed := &wire.APIVipConnectivityResponse{
		IsSuccess: true, Ignition: `{"storage":{"files":[{"path":"/etc/kubernetes/manifests/keepalived.yaml"}]}}`,
	}
	users := &wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{}`}
	refused := &wire.APIVipConnectivityResponse{DownloadError: "refused"}
	const id = "api-domain-name-resolved-correctly"
	other := func(own, others *wire.APIVipConnectivityResponse) func(*fixture) {
		return func(w *fixture) {
			imported(own)(w)
			w.hosts[2].IgnitionDownload = others
		}
	}
	requireVerdicts(t, []hostCase{
		{"follows another host where it has no answer", id, other(nil, managed), ok, "managed"},
		{"follows another host where its own failed", id, other(refused, managed), ok, "managed"},
		{"is judged by names when another host shows it", id, other(nil, users), fails, "api.test.example.com"},
		{"waits while no host has an answer", id, other(nil, nil), waits, ""},
		{"takes its own answer first", id, other(users, managed), fails, "api.test.example.com"},
	})
}
