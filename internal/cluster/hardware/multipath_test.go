package hardware_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/hardware"
	"slipway/internal/wire"
)

func TestSameUnit(t *testing.T) {
	t.Parallel()
	const size = 200_000_000_000
	named := func(wwn, byID string) wire.Disk { return wire.Disk{Wwn: wwn, ByID: byID, SizeBytes: size} }
	raid := named("0x5000c500a1b2c3d4", "")
	raid.DriveType = wire.DriveTypeRAID
	for name, c := range map[string]struct {
		one, other wire.Disk
		same       bool
	}{
		"a name of udev and one of the kernel": {named("0x5000c500a1b2c3d4", ""), named("naa.5000C500A1B2C3D4", ""), true},
		"a link of multipath": {
			named("0x600a098038304437415d4b6a59676d51", ""),
			named("", "/dev/disk/by-id/dm-uuid-mpath-3600a098038304437415d4b6a59676d51"), true,
		},
		"a link of a namespace": {
			named("uuid.2c5a8e0f-30b1-4c84-9a5c-0a0b0c0d0e0f", ""),
			named("", "/dev/disk/by-id/dm-uuid-mpath-uuid.2c5a8e0f-30b1-4c84-9a5c-0a0b0c0d0e0f"), true,
		},
		"a name that the kernel made":         {named("nvme.8086-50484c4a-00000001", ""), named("nvme.8086-50484c4a-00000001", ""), true},
		"another unit":                        {named("0x5000c500a1b2c3d4", ""), named("0x5000c500a1b2c3d5", ""), false},
		"the first half of a name":            {named("0x600a098038304437", ""), named("0x600a098038304437", ""), false},
		"zeros":                               {named("0x0000000000000000", ""), named("0x0000000000000000", ""), false},
		"a serial number":                     {named("", "/dev/disk/by-id/ata-ST4000_Z1"), named("", "/dev/disk/by-id/ata-ST4000_Z1"), false},
		"no names":                            {named("", ""), named("", ""), false},
		"an array with the name of its disks": {named("0x5000c500a1b2c3d4", ""), raid, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.same, hardware.SameUnit(&c.one, &c.other))
			require.Equal(t, c.same, hardware.SameUnit(&c.other, &c.one))
		})
	}
}
