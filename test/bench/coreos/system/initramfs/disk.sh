# The root file system of a disk, and what coreos-installer left for its first boot.

# take_boot_partition is coreos-ignition-setup-user.service and
# coreos-copy-firstboot-network.service: both read from /boot, which stays as it is.
take_boot_partition() {
  mkdir -p /run/boot
  within 20 found_label boot || die "no disk has a file system with the label boot"
  mount -o ro "$device" /run/boot || die "$device cannot be mounted"
  if [ -e /run/boot/ignition/config.ign ]; then
    cp /run/boot/ignition/config.ign /usr/lib/ignition/user.ign
    say "config of $(wc -c </usr/lib/ignition/user.ign) bytes"
  fi
  if [ -n "$(ls -A /run/boot/coreos-firstboot-network 2>/dev/null)" ]; then
    mkdir -p "$firstboot"
    cp /run/boot/coreos-firstboot-network/* "$firstboot/"
  fi
  umount /run/boot
}

mount_disk_root() {
  within 20 found_label root || die "no disk has a file system with the label root"
  ! first_boot || grow_root "$device"
  mount -o rw "$device" /sysroot || die "$device cannot be mounted"
  say "root of $device"
}

# grow_root PARTITION: to the end of its disk, unless the config made a partition behind it.
grow_root() {
  part=/sys/class/block/${1##*/}
  disk=/dev/$(basename "$(dirname "$(readlink -f "$part")")")
  sgdisk --move-second-header "$disk" >/run/grow.log 2>&1
  echo ', +' | sfdisk --quiet --no-reread --force -N "$(cat "$part/partition")" "$disk" >>/run/grow.log 2>&1
  partx --update "$disk"
  udevadm settle
  e2fsck -fy "$1" >>/run/grow.log 2>&1
  resize2fs "$1" >>/run/grow.log 2>&1 || {
    tail -n 5 /run/grow.log
    die "the root file system cannot grow"
  }
  say "root has $(($(cat "$part/size") / 2048)) MiB"
}
