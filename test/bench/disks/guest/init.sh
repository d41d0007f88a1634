#!/bin/sh
# First process of the machine that build.sh makes: brings up devices as a live image does,
# with udev, which starts what it finds on disks, runs the tests and switches off.
export PATH=/usr/sbin:/usr/bin:/test
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /run/lock /run/udev /run/lvm
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/mounts /etc/mtab
for module in virtio_pci virtio_blk virtio_scsi ata_piix sd_mod nvme loop dm-mod dm-thin-pool dm-mirror raid1 ext4 vfat nls_ascii nls_cp437; do
  modprobe "$module"
done
/usr/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add
udevadm settle
hostname guest
ip link set lo up
touch /run/bench-guest
cd /test || poweroff -f
echo "bench: guest is up after $(cut -d' ' -f1 /proc/uptime) s"
for program in /test/*.test; do
  "$program" -test.v -test.run "$(sed -n 's/.*bench\.run=\([^ ]*\).*/\1/p' /proc/cmdline)" 2>&1
  echo "bench: ended with $?"
done
poweroff -f
