#!/bin/sh
# Runs in root.sh, with the tree as its argument.
set -eu
root=$1
# What a machine makes for itself at its first boot.
rm -f "$root/etc/hostname" "$root/etc/machine-id" "$root/var/lib/dbus/machine-id"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/*
rm -f "$root/etc/resolv.conf"
ln -s /run/NetworkManager/resolv.conf "$root/etc/resolv.conf"
# Only presets say what is begun, as on CoreOS: Debian enables what it installs, such as
# keepalived and the monitors of volumes and arrays. What udev does by itself stays: arrays
# are assembled and volume groups activated on the disks of a live system, as on CoreOS.
rm -rf "$root"/etc/systemd/system/*.wants
# These ask questions, wait, or do what a machine of an hour does not need.
for unit in systemd-firstboot.service systemd-networkd-wait-online.service apt-daily.timer \
  apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_reap.service e2scrub_all.timer fstrim.timer \
  mdmonitor.service getty@tty1.service; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# CoreOS has NetworkManager only. This one would be begun by a preset, and take interfaces
# over that a kernel argument names (ip=).
for unit in systemd-networkd.service systemd-networkd.socket systemd-network-generator.service; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# No user logs in at a console.
mkdir -p "$root/etc/systemd/system-generators"
ln -sf /dev/null "$root/etc/systemd/system-generators/systemd-getty-generator"
for program in bin/nmstatectl bin/update-ca-trust bin/coreos-installer local/bin/coreos-installer; do
  [ ! -e "$root/usr/$program" ] || chmod 755 "$root/usr/$program"
done
[ -e "$root/usr/bin/coreos-installer" ] || rm "$root/usr/local/bin/coreos-installer"
mkdir -p "$root/boot" "$root/sysroot"
