#!/bin/sh
# First process of a machine (test/bench/disks/guest/build.sh) that leaves another system's
# volume groups and half a mirror on /dev/vda, and switches itself off.
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mkdir -p /run/lock /run/udev /run/lvm
ln -s /proc/self/mounts /etc/mtab
for module in virtio_pci virtio_blk dm-mod raid1 ext4; do modprobe "$module"; done
/usr/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add
udevadm settle
set -e
sgdisk --new=1:0:+4G --new=2:0:+4G --new=3:0:0 /dev/vda
udevadm settle
pvcreate --yes --force --force /dev/vda1 /dev/vda3
vgcreate old /dev/vda1 /dev/vda3
lvcreate --yes --size 1G --name data old
mkfs.ext4 -q /dev/old/data
mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 /dev/vda2 missing
mkfs.ext4 -q /dev/md0
sync
echo "old disk: made"
poweroff -f
