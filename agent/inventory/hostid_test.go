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

// Serials of real boards: openshift/assisted-installer-agent 8753f3c5, 0171921e, 57baa621, and firmware of other makers.
func TestBoardSerialsThatManyMachinesShare(t *testing.T) {
	t.Parallel()
	first, second := "4c4c4544-0051-3510-8052-b4c04f564432", "4c4c4544-0051-3510-8052-b4c04f564433"
	id := func(t *testing.T, serial, product string) string {
		t.Helper()
		found, err := inventory.HostID(machine(t, tree{
			"/sys/class/dmi/id/board_serial": serial + "\n", "/sys/class/dmi/id/product_uuid": product + "\n",
		}, network{}, nil))
		require.NoError(t, err)
		return found.String()
	}
	for _, serial := range []string{
		"", "-", "--", ".", "(none)", "None", "none", "N/A", "NA", "Unknown", "UNKNOWN", "Unspecified Base Board Serial Number",
		"Unspecified System Serial Number", "Not Available", "Not Applicable", "Not Specified", "Not Present", "Base Board Serial Number",
		"BaseBoard Serial Number", "0", "0000000000", "00000000", "000-000-000",
		"XXXXXXXX", "xxxxxxxxxx", "FFFFFFFF", "........", "11111111", "0123456789",
		"123456789", "1234567890", "0123456789ABCDEF", "ABCDEFGH", "To be filled by O.E.M.", "To Be Filled By O.E.M.",
		"System Serial Number", "Default string", "Default", "Chassis Serial Number", "PCA_number.ACC", "Serial Number", "SerNum",
		"OEM", "<empty>", "[none]", "NULL", "TBD", "Invalid", "Undefined",
		"Type2 - Board Serial Number", "MB-1234567890", "BSN12345678901234567", "SSN-0123456789", "Unavailable", "Not Settable",
		"9876543210", "0987654321", "1111-1111", "0x00000000", "Reserved", "Dummy", "Not Programmed", "Blank", "S/N", "SN0000000000",
		"ToBeFilledByO.E.M.", "SystemSerialNumb", "Default_string", "Default string 01", "SerNum1", "No Board Serial Number", "N/A-0",
		"XXXX-XXXX", "\xff\xff\xff\xff", "**********", "Not Known",
	} {
		t.Run("are passed over: "+serial, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, first, id(t, serial, first))
			require.Equal(t, second, id(t, serial, second))
		})
	}
	for _, serial := range []string{
		"123-456-789", "CN7016", "..CN129636AB000C..", "PWKSH00MHAM0B9", "8675309", "12345", "ZM1234567890", "/5XR8K33/CNFCP0012300AB/",
		"VMware-42 1c 5e", "S1", "00000001", "1A", "MB12", "0123456780", "NM174S011111",
		"0x1A2B3C", "Board-01", "SN000000017", "MB-1234567809", "Serial 4711", "CNBAD", "210-987-654", "N1234567", "Tag 7ABC123",
	} {
		t.Run("are kept: "+serial, func(t *testing.T) {
			t.Parallel()
			require.NotEqual(t, first, id(t, serial, first))
			require.Equal(t, id(t, serial, first), id(t, serial, second))
		})
	}
}

func TestProductUUIDsThatManyMachinesShare(t *testing.T) {
	t.Parallel()
	physical := tree{"/sys/class/net/eno1/device/vendor": "x"}
	links := network{links: []inventory.Link{link("eno1", "52:54:00:aa:bb:01", "device")}}
	for _, product := range []string{
		"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "11111111-1111-1111-1111-111111111111",
		"03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009", "01234567-89AB-CDEF-0123-456789ABCDEF",
		"12345678-1234-5678-90AB-CDDEEFAABBCC", "FEFEFEFE-FEFE-FEFE-FEFE-FEFEFEFEFEFE", "00112233-4455-6677-8899-AABBCCDDEEFF",
		"FFFFFFFF-FFFF-FFFF-0000-000000000000", "11111111-2222-3333-4444-555555555555", "4C4C4544-0000-2010-8020-80C04F202020",
		"00000000-0000-0000-0000-000000000001", "DEADBEEF-DEAD-BEEF-DEAD-BEEFDEADBEEF", "00010203-0405-0607-0809-0A0B0C0D0E0F",
		"12345678-1234-1234-1234-123456789012", "Not Settable", "",
	} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			id, err := inventory.HostID(machine(t, merge(physical, tree{"/sys/class/dmi/id/product_uuid": product}), links, nil))
			require.NoError(t, err)
			require.Equal(t, "a0d9e086-ae60-bd63-5910-fed4736ccffa", id.String())
		})
	}
	for _, product := range []string{
		"4c4c4544-0051-3510-8052-b4c04f564432", "00000000-0000-0000-0000-ac1f6b4d2e7a", "30373237-3132-4d32-3238-323030375642",
		"12345678-1234-5678-90ab-cddeefaabbcd",
	} {
		t.Run("is kept: "+product, func(t *testing.T) {
			t.Parallel()
			id, err := inventory.HostID(machine(t, merge(physical, tree{"/sys/class/dmi/id/product_uuid": product}), links, nil))
			require.NoError(t, err)
			require.Equal(t, product, id.String())
		})
	}
}

// The port to a management controller has one address in all servers of a maker, and a NIC with an empty memory has zeros: both are
// lower than the address of the board.
func TestMACAddressesThatManyMachinesShare(t *testing.T) {
	t.Parallel()
	files := tree{}
	for _, name := range []string{"eno1", "eno2", "usb0"} {
		files["/sys/class/net/"+name+"/device/vendor"] = "x"
	}
	board := link("eno1", "ec:f4:bb:00:00:01", "device")
	for name, c := range map[string]struct{ other inventory.Link }{
		"the port to a management controller": {link("usb0", "be:3a:f2:b6:05:9f", "device")},
		"zeros":                               {link("eno2", "00:00:00:00:00:00", "device")},
		"all ones":                            {link("eno2", "ff:ff:ff:ff:ff:ff", "device")},
		"a group address":                     {link("eno2", "01:00:5e:00:00:01", "device")},
		"a bridge":                            {link("br0", "00:00:5e:00:53:01", "bridge")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := inventory.HostID(machine(t, files, network{links: []inventory.Link{c.other, board}}, nil))
			require.NoError(t, err)
			require.Equal(t, "b3d010ed-ae52-4ebe-eb8c-a389101519d7", id.String())
		})
	}
	_, err := inventory.HostID(machine(t, files, network{links: []inventory.Link{link("eno2", "00:00:00:00:00:00", "device")}}, nil))
	require.ErrorIs(t, err, inventory.ErrNoIdentity)
}
