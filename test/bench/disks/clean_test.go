package disks_test

import (
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// patience is less than the time limit of go test, whose message would say nothing about the machine.
const patience = 8 * time.Minute

// sh runs commands of the machine and returns what they print.
func sh(t *testing.T, script string) string {
	t.Helper()
	command := exec.Command("sh", "-euc", script)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	return strings.TrimSpace(string(out))
}

// fresh empties all disks, whatever the test before left.
func fresh(t *testing.T) {
	t.Helper()
	// Without udev nothing is started again meanwhile.
	sh(t, `
		udevadm settle; udevadm control --stop-exec-queue
		for d in /mnt/*; do umount "$d" 2>/dev/null || true; done
		for try in 1 2 3; do
			dmsetup remove_all --force >/dev/null 2>&1 || true
			mdadm --stop --scan >/dev/null 2>&1 || true
		done
		for d in a b c d; do
			blkdiscard -f /dev/vd$d
			blockdev --rereadpt /dev/vd$d
		done
		udevadm control --start-exec-queue
		udevadm settle
		test -z "$(lsblk -nro NAME,TYPE | grep -v disk)" || { lsblk; exit 1; }
		test -z "$(pvs 2>&1)" || { pvs; exit 1; }`)
}

func newInstaller(o installer.Options) *installer.Installer {
	o.Root, o.Runner, o.Log = "/", hostexec.Exec{}, slog.New(slog.DiscardHandler)
	return installer.New(o)
}

// requireFree wants a disk that is unused and empty, now and once udev has had its say.
func requireFree(t *testing.T, disk string, report installer.CleanReport) {
	t.Helper()
	sh(t, "udevadm settle")
	require.Equal(t, disk+" disk", sh(t, "lsblk -npro NAME,TYPE "+disk), "stacked on the disk; %+v", report)
	require.Empty(t, sh(t, "wipefs "+disk), "%+v", report)
	require.Empty(t, sh(t, "ls /sys/block/"+disk[len("/dev/"):]+"/holders"), "%+v", report)
	file, err := os.OpenFile(disk, os.O_RDWR|syscall.O_EXCL, 0)
	require.NoError(t, err, "%+v", report)
	require.NoError(t, file.Close())
}

// two makes two partitions on a disk.
const two = `two() { sgdisk -n1:0:+200M -n2:0:+200M $1 >/dev/null; udevadm settle; }; `

var layouts = []struct {
	name, make string
	// others is a command that reports something of other disks that must stay as it is.
	others string
	// warns: people are warned of something.
	warns bool
}{
	{name: "nothing at all"},
	{
		name: "LVM on the whole disk",
		make: `pvcreate -qq /dev/vda; vgcreate -qq vg0 /dev/vda; lvcreate -qq -y -L 20M -n root vg0; lvcreate -qq -y -L 20M -n home vg0`,
	},
	{name: "LVM on a partition with a thin pool", make: two + `two /dev/vda; pvcreate -qq /dev/vda1; vgcreate -qq vg0 /dev/vda1
		lvcreate -qq -y -L 60M --type thin-pool --poolmetadatasize 4M -n pool vg0 || lvcreate -qq -y -L 60M -n pool vg0
		lvcreate -qq -y -V 100M -T vg0/pool -n thin || true`},
	{
		name: "LVM that was not started",
		make: `pvcreate -qq /dev/vda; vgcreate -qq vg0 /dev/vda; lvcreate -qq -y -L 20M -n root vg0; vgchange -qq -an vg0`,
	},
	{name: "a physical volume without group", make: `pvcreate -qq /dev/vda`},
	{
		name: "a group over two disks", warns: true,
		make: `pvcreate -qq /dev/vda /dev/vdb; vgcreate -qq vg0 /dev/vda /dev/vdb; lvcreate -qq -y -L 1200M -n big vg0`,
	},
	{
		name: "a group whose other disk is gone", warns: true,
		make: `pvcreate -qq /dev/vda /dev/vdb; vgcreate -qq vg0 /dev/vda /dev/vdb; lvcreate -qq -y -L 20M -n small vg0
			lvcreate -qq -y -L 1200M -n big vg0; vgchange -qq -an vg0; wipefs -qaf /dev/vdb; udevadm settle
			vgchange -qq -ay --activationmode partial vg0 || true`,
	},
	{
		name: "a group of the same name on another disk",
		make: `pvcreate -qq /dev/vda; vgcreate -qq vg0 /dev/vda; lvcreate -qq -y -L 20M -n root vg0; vgchange -qq -an vg0
			pvcreate -qq --config 'devices{filter=["a|vdb|","r|.*|"]}' /dev/vdb
			vgcreate -qq --config 'devices{filter=["a|vdb|","r|.*|"]}' vg0 /dev/vdb
			lvcreate -qq -y -L 20M -n keep --config 'devices{filter=["a|vdb|","r|.*|"]}' vg0; udevadm settle`,
		others: `pvs --noheadings -o vg_name,lv_count --config 'devices{filter=["a|vdb|","r|.*|"]}' /dev/vdb 2>/dev/null
			lvs --noheadings -o lv_name --config 'devices{filter=["a|vdb|","r|.*|"]}'`,
	},
	{
		name: "a volume group of another disk that is in use",
		make: `pvcreate -qq /dev/vdb; vgcreate -qq data /dev/vdb; lvcreate -qq -y -L 20M -n keep data
			pvcreate -qq /dev/vda; vgcreate -qq old /dev/vda; lvcreate -qq -y -L 20M -n x old`,
		others: `lvs --noheadings -o lv_name,lv_active data; wipefs /dev/vdb`,
	},
	{
		name:   "a mirror of whole disks",
		make:   `mdadm -q --create --run /dev/md0 --level=1 --raid-devices=2 --assume-clean /dev/vda /dev/vdb`,
		others: `wipefs /dev/vdb`,
	},
	{
		name:   "a mirror with the old format",
		make:   `mdadm -q --create --run /dev/md0 --metadata=0.90 --level=1 --raid-devices=2 --assume-clean /dev/vda /dev/vdb`,
		others: `wipefs /dev/vdb`,
	},
	{
		name: "a mirror with the format at the end",
		make: `mdadm -q --create --run /dev/md0 --metadata=1.0 --level=1 --raid-devices=2 --assume-clean /dev/vda /dev/vdb`,
	},
	{
		name: "mirrors of partitions with LVM on one",
		make: two + `two /dev/vda; two /dev/vdb; mdadm -q --create --run /dev/md0 --level=1 --raid-devices=2 --assume-clean /dev/vda1 /dev/vdb1
			mdadm -q --create --run /dev/md1 --metadata=1.0 --level=1 --raid-devices=2 --assume-clean /dev/vda2 /dev/vdb2
			pvcreate -qq /dev/md0; vgcreate -qq vg0 /dev/md0; lvcreate -qq -y -L 20M -n root vg0; mkfs.ext4 -q /dev/md1`,
	},
	{
		name: "a mirror with partitions on it",
		make: `mdadm -q --create --run /dev/md0 --level=1 --raid-devices=2 --assume-clean /dev/vda /dev/vdb; sgdisk -n1:0:+100M /dev/md0 >/dev/null; udevadm settle
			pvcreate -qq /dev/md0p1; vgcreate -qq vg0 /dev/md0p1; lvcreate -qq -y -L 20M -n root vg0`,
	},
	{
		name: "one disk of a stripe, which does not start",
		make: `mdadm -q --create --run /dev/md0 --level=0 --raid-devices=2 /dev/vda /dev/vdb
			mdadm -q --stop /dev/md0; wipefs -qaf /dev/vdb; udevadm settle
			mdadm -q --stop /dev/md/* /dev/md[0-9]* 2>/dev/null || true; mdadm -q --incremental /dev/vda || true; udevadm settle
			test -n "$(ls /sys/block/vda/holders)"`,
	},
	{
		name: "an array that was not started",
		make: `mdadm -q --create --run /dev/md0 --level=1 --raid-devices=2 --assume-clean /dev/vda /dev/vdb
			mdadm -q --stop /dev/md0; udevadm settle; mdadm -q --stop /dev/md* 2>/dev/null || true`,
	},
	{
		name: "a device of the device mapper",
		make: `dmsetup create old --table "0 100000 linear /dev/vda 2048"; dmsetup create "on old" --table "0 1000 linear /dev/mapper/old 0"`,
	},
	{
		name: "a device of the device mapper on a partition",
		make: two + `two /dev/vda; dmsetup create old --table "0 1000 linear /dev/vda2 0"`,
	},
	{name: "file systems", make: two + `two /dev/vda; mkfs.ext4 -q /dev/vda1; mkswap -q /dev/vda2`},
	{
		name: "a volume of LVM that device mapper uses",
		make: `pvcreate -qq /dev/vda; vgcreate -qq vg0 /dev/vda; lvcreate -qq -y -L 20M -n root vg0
			dmsetup create user --table "0 1000 linear /dev/vg0/root 0"`,
	},
	{
		name: "LVM inside a volume of LVM",
		make: `pvcreate -qq /dev/vda; vgcreate -qq outer /dev/vda; lvcreate -qq -y -L 200M -n disk outer
			pvcreate -qq --config 'devices{scan_lvs=1}' /dev/outer/disk; vgcreate -qq --config 'devices{scan_lvs=1}' inner /dev/outer/disk
			lvcreate -qq -y -L 20M -n x --config 'devices{scan_lvs=1}' inner`,
	},
}

func TestGuestDiskIsFreeAfterItsCleanup(t *testing.T) {
	inGuest(t)
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			fresh(t)
			sh(t, l.make+"\nudevadm settle")
			before := sh(t, l.others)
			report, err := newInstaller(installer.Options{}).CleanDisk(t.Context(), &wire.InstallCmdRequest{BootDevice: "/dev/vda"})
			require.NoError(t, err)
			t.Logf("%+v", report)
			requireFree(t, "/dev/vda", report)
			require.Equal(t, before, sh(t, l.others))
			require.Equal(t, l.warns, len(report.Warnings) > 0, "%q", report.Warnings)
			again, err := newInstaller(
				installer.Options{},
			).CleanDisk(t.Context(), &wire.InstallCmdRequest{BootDevice: "/dev/disk/by-id/virtio-disk0"})
			require.NoError(t, err)
			require.Empty(t, again.Warnings, "the second time")
		})
	}
}
