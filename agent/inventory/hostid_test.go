package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
)

func TestHostIDTakesTheFirstThatTellsMachinesApart(t *testing.T) {
	t.Parallel()
	const (
		serial  = "/sys/class/dmi/id/board_serial"
		product = "/sys/class/dmi/id/product_uuid"
	)
	links := network{links: []inventory.Link{
		loopback(),
		link("veth0", "02:00:00:00:00:01", "veth"),
		link("eno2", "52:54:00:aa:bb:02", "device"),
		link("eno1", "52:54:00:aa:bb:01", "device"),
	}}
	physical := tree{"/sys/class/net/eno1/device/vendor": "x", "/sys/class/net/eno2/device/vendor": "x"}
	for name, c := range map[string]struct {
		files tree
		links network
		want  string
	}{
		"the board's serial": {
			tree{serial: "CN7016\n", product: "4c4c4544-0051-3510-8052-b4c04f564432"}, links, "15606bcd-759d-1466-d8d5-417a401f9c8e",
		},
		"the product, if the serial is none": {
			tree{serial: "Default string\n", product: "4C4C4544-0051-3510-8052-B4C04F564432\n"},
			links,
			"4c4c4544-0051-3510-8052-b4c04f564432",
		},
		"the lowest hardware address, if the product is all zero": {
			merge(physical, tree{product: "00000000-0000-0000-0000-000000000000"}), links, "a0d9e086-ae60-bd63-5910-fed4736ccffa",
		},
		"the lowest hardware address, if the product is shared": {
			merge(physical, tree{product: "03000200-0400-0500-0006-000700080009"}), links, "a0d9e086-ae60-bd63-5910-fed4736ccffa",
		},
		"any address, if there is no hardware": {tree{}, links, "664af1a9-49e6-73a7-8e2e-548696f69cd8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := inventory.HostID(machine(t, c.files, c.links, nil))
			require.NoError(t, err)
			require.Equal(t, c.want, id.String())
		})
	}
}

func merge(a, b tree) tree {
	all := tree{}
	for _, files := range []tree{a, b} {
		for path, content := range files {
			all[path] = content
		}
	}
	return all
}
