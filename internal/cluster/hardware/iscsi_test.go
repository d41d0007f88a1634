package hardware_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/hardware"
	"slipway/internal/wire"
)

// TestVerdictsOfDisksInTheNetwork compares with the rules of openshift/assisted-service, internal/hardware/validator.go.
// A node on such a disk may not boot: what its initial RAM disk has to bring up is not known, or changes while it boots.
func TestVerdictsOfDisksInTheNetwork(t *testing.T) {
	t.Parallel()
	spec := hardware.DiskSpec{MinSizeGB: 100, OpenShiftVersion: "4.22.0", CPUArchitecture: "x86_64"}
	storage := wire.Interface{Name: "eth1", Ipv4Addresses: []string{"10.9.9.9/24"}, Ipv6Addresses: []string{"fd09::9/64"}}
	route := func(nic, to string, metric int32) wire.Route {
		gateway := map[string]string{"0.0.0.0": "10.9.9.1", "::": "fe80::1"}[to]
		return wire.Route{Destination: to, Gateway: gateway, Interface: nic, Metric: metric}
	}
	for _, tt := range []struct {
		name   string
		disks  []wire.Disk
		routes []wire.Route // instead of the one over eth0
		says   string       // empty: eligible
	}{
		{"takes an iSCSI disk over its own NIC", []wire.Disk{disk("sda", "iSCSI", from("10.9.9.9"))}, nil, ""},
		{
			"refuses one whose address is not known",
			[]wire.Disk{disk("sda", "iSCSI")},
			nil,
			"Require the address of the host that an iSCSI disk is reached from, found none",
		},
		{"refuses one whose address is invalid", []wire.Disk{disk("sda", "iSCSI", from("here"))}, nil, `found "here"`},
		{
			"refuses one while the NIC of the default route is not known",
			[]wire.Disk{disk("sda", "iSCSI", from("10.9.9.9"))},
			[]wire.Route{route("eth7", "0.0.0.0", 0)},
			"Require the NIC of the default route (eth7)",
		},
		{
			"takes one without a default route of its family",
			[]wire.Disk{disk("sda", "iSCSI", from("10.9.9.9"))},
			[]wire.Route{route("eth1", "::", 0)},
			"",
		},
		{
			"refuses one over the default route of its family",
			[]wire.Disk{disk("sda", "iSCSI", from("fd09::9"))},
			[]wire.Route{route("eth1", "::", 0)},
			"away from the default route",
		},
		{
			"takes one on a NIC with a worse default route",
			[]wire.Disk{disk("sda", "iSCSI", from("10.9.9.9"))},
			[]wire.Route{route("eth1", "0.0.0.0", 200), route("eth0", "0.0.0.0", 100)},
			"",
		},
		{
			"refuses one on the NIC with the best",
			[]wire.Disk{disk("sda", "iSCSI", from("10.9.9.9"))},
			[]wire.Route{route("eth0", "0.0.0.0", 200), route("eth1", "0.0.0.0", 100)},
			"away from the default route",
		},
		{"refuses a multipath device without paths", []wire.Disk{disk("dm-0", "Multipath")}, nil, "found none of its paths"},
		{"takes one over iSCSI", []wire.Disk{
			disk("dm-0", "Multipath"), disk("sda", "iSCSI", from("10.9.9.9"), holders("dm-0")),
			disk("sdb", "iSCSI", from("10.9.9.9"), holders("dm-0")),
		}, nil, ""},
		{"refuses one with a path whose address is not known", []wire.Disk{
			disk("dm-0", "Multipath"), disk("sda", "iSCSI", from("10.9.9.9"), holders("dm-0")), disk("sdb", "iSCSI", holders("dm-0")),
		}, nil, "Require the address of the host"},
		{"refuses one with a path over the default route", []wire.Disk{
			disk("dm-0", "Multipath"), disk("sda", "iSCSI", from("10.9.9.9"), holders("dm-0")),
			disk("sdb", "iSCSI", from("192.168.8.10"), holders("dm-0")),
		}, nil, "away from the default route"},
		{
			"refuses NVMe beside iSCSI below it",
			[]wire.Disk{
				disk("dm-0", "Multipath"), disk("nvme0n1", "SSD", holders("dm-0")),
				disk("sda", "iSCSI", from("10.9.9.9"), holders("dm-0")),
			},
			nil,
			"one kind of path",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inv := newHost().Inventory
			inv.Interfaces, inv.Disks = append(inv.Interfaces, storage), slices.Clone(tt.disks)
			if tt.routes != nil {
				inv.Routes = tt.routes
			}
			for range 2 { // a second time changes nothing
				hardware.ApplyDiskEligibility(inv, spec)
				got := inv.Disks[0].InstallationEligibility
				require.Equal(t, tt.says == "", got.Eligible, got.NotEligibleReasons)
				if tt.says != "" {
					require.Len(t, got.NotEligibleReasons, 1)
					require.Contains(t, got.NotEligibleReasons[0], tt.says)
				}
			}
		})
	}
}
