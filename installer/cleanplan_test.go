package installer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
)

const emptyDisk = `{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","mountpoint":null}]}`

func TestPlanCleanupTouchesOnlyItsDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blocks   string
		volumes  string
		want     []string
		warnings []string
	}{
		"an empty disk": {blocks: emptyDisk, want: []string{"wipefs --all --force /dev/sda"}},
		"partitions": {
			blocks: `{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
				{"name":"/dev/sda1","kname":"/dev/sda1","type":"part","mountpoint":"/mnt"},
				{"name":"/dev/sda10","kname":"/dev/sda10","type":"part"}]}]}`,
			want: []string{
				"wipefs --all --force /dev/sda1", "wipefs --all --force /dev/sda10", "wipefs --all --force /dev/sda",
			},
			warnings: []string{"/dev/sda1 is mounted on /mnt"},
		},
		"other disks whose names begin alike": {
			blocks: emptyDisk,
			volumes: `{"report":[{"pv":[{"pv_name":"/dev/sdaa","vg_name":"data"},{"pv_name":"/dev/sda1","vg_name":"old"},
				{"pv_name":"/dev/sdaa1","vg_name":"sda"}]}]}`,
			want: []string{"wipefs --all --force /dev/sda"},
		},
		"LVM on the disk and on a partition": {
			blocks: `{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
				{"name":"/dev/sda1","kname":"/dev/sda1","type":"part","children":[
					{"name":"/dev/mapper/vg0-root","kname":"/dev/dm-0","type":"lvm"},
					{"name":"/dev/mapper/vg0-pool_tdata","kname":"/dev/dm-1","type":"lvm"}]},
				{"name":"/dev/sda2","kname":"/dev/sda2","type":"part"}]}]}`,
			volumes: `{"report":[{"pv":[{"pv_name":"/dev/sda1","vg_name":"vg0"},{"pv_name":"/dev/sdb","vg_name":"vg0"},
				{"pv_name":"/dev/sda2","vg_name":""},{"pv_name":"/dev/sdc1","vg_name":"vg00"}]}]}`,
			want: []string{
				"vgremove --yes --force vg0",
				"pvremove --yes --force --force /dev/sda1", "pvremove --yes --force --force /dev/sda2",
				"wipefs --all --force /dev/sda1", "wipefs --all --force /dev/sda2", "wipefs --all --force /dev/sda",
			},
			warnings: []string{"volume group vg0 also had a volume on /dev/sdb"},
		},
		"groups of one name on two disks": {
			blocks:  emptyDisk,
			volumes: `{"report":[{"pv":[{"pv_name":"/dev/sda","vg_name":"vg0","vg_uuid":"aaa-1"},{"pv_name":"/dev/sdb","vg_name":"vg0","vg_uuid":"bbb-2"}]}]}`,
			want: []string{
				"vgremove --yes --force --select vg_uuid=aaa-1", "pvremove --yes --force --force /dev/sda", "wipefs --all --force /dev/sda",
			},
		},
		"LVM in LUKS on a mirror": {
			blocks: `{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
				{"name":"/dev/sda1","kname":"/dev/sda1","type":"part","children":[
					{"name":"/dev/md127","kname":"/dev/md127","type":"raid1","children":[
						{"name":"/dev/mapper/secret","kname":"/dev/dm-0","type":"crypt","children":[
							{"name":"/dev/mapper/vg1-data","kname":"/dev/dm-1","type":"lvm"}]}]}]},
				{"name":"/dev/sda2","kname":"/dev/sda2","type":"part","children":[
					{"name":"/dev/md127","kname":"/dev/md127","type":"raid1","children":[
						{"name":"/dev/mapper/secret","kname":"/dev/dm-0","type":"crypt","children":[
							{"name":"/dev/mapper/vg1-data","kname":"/dev/dm-1","type":"lvm"}]}]}]}]}]}`,
			volumes: `{"report":[{"pv":[{"pv_name":"/dev/dm-0","vg_name":"vg1"}]}]}`,
			want: []string{
				"vgremove --yes --force vg1", "pvremove --yes --force --force /dev/dm-0",
				"dmsetup remove --retry secret", "mdadm --stop /dev/md127",
				"mdadm --zero-superblock /dev/sda1", "mdadm --zero-superblock /dev/sda2",
				"wipefs --all --force /dev/sda1", "wipefs --all --force /dev/sda2", "wipefs --all --force /dev/sda",
			},
		},
		"a path of a multipath device": {
			blocks: `{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
				{"name":"/dev/mapper/mpatha","kname":"/dev/dm-0","type":"mpath","children":[
					{"name":"/dev/mapper/mpatha1","kname":"/dev/dm-1","type":"part"}]}]}]}`,
			want: []string{
				"dmsetup remove --retry mpatha1", "dmsetup remove --retry mpatha", "wipefs --all --force /dev/sda",
			},
		},
		"a multipath device itself": {
			blocks: `{"blockdevices":[{"name":"/dev/mapper/mpatha","kname":"/dev/dm-0","type":"mpath","children":[
				{"name":"/dev/mapper/mpatha1","kname":"/dev/dm-1","type":"part"}]}]}`,
			want: []string{"wipefs --all --force /dev/mapper/mpatha1", "wipefs --all --force /dev/mapper/mpatha"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk, err := installer.ParseBlocks(c.blocks)
			require.NoError(t, err)
			var volumes []installer.PhysicalVolume
			if c.volumes != "" {
				volumes, err = installer.ParsePhysicalVolumes(c.volumes)
				require.NoError(t, err)
			}
			plan := installer.PlanCleanup(disk, volumes)
			var got []string
			for _, action := range plan.Actions {
				got = append(got, strings.Join(action.Argv, " "))
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.warnings, plan.Warnings)
		})
	}
}

func TestPlanTeardownBeginsAtTheTop(t *testing.T) {
	t.Parallel()
	disk, err := installer.ParseBlocks(`{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
		{"name":"/dev/sda1","kname":"/dev/sda1","type":"part","children":[
			{"name":"/dev/md127","kname":"/dev/md127","type":"raid1","children":[
				{"name":"/dev/mapper/outer-disk","kname":"/dev/dm-0","type":"lvm","children":[
					{"name":"/dev/mapper/inner-x","kname":"/dev/dm-1","type":"lvm"}]}]}]}]}]}`)
	require.NoError(t, err)
	var got []string
	for _, action := range installer.PlanTeardown(disk).Actions {
		got = append(got, strings.Join(action.Argv, " "))
	}
	require.Equal(t, []string{"dmsetup remove --retry inner-x", "dmsetup remove --retry outer-disk", "mdadm --stop /dev/md127"}, got)
}

func TestParsingRefusesWhatIsNotALayout(t *testing.T) {
	t.Parallel()
	_, err := installer.ParseBlocks("not JSON")
	require.ErrorContains(t, err, "read the block devices")
	_, err = installer.ParseBlocks(`{"blockdevices":[]}`)
	require.ErrorContains(t, err, "require one block device, found 0")
	_, err = installer.ParsePhysicalVolumes("not JSON")
	require.ErrorContains(t, err, "read the physical volumes")
}
