#!/bin/sh
# Makes the initramfs of a machine that runs a test program as its only service, out of this
# machine's own tools for disks: what must not happen to the disks of whoever runs the tests
# happens there.
#   usage: build.sh OUT INIT KERNEL PROGRAM...
#   KERNEL   folder with lib/modules/VERSION; PROGRAMs are put into /test
set -eu
out=$1 init=$2 kernel=$3
shift 3
image=$(mktemp -d)
trap 'rm -rf "$image"' EXIT

# copy TO FILE...: programs, and the libraries they load.
copy() {
  to=$image/$1
  shift
  mkdir -p "$to"
  for file; do
    cp -L "$file" "$to/"
    ldd "$file" 2>/dev/null | sed -nE 's:^[^/]*(/[^ ]+) .*:\1:p' | while read -r library; do
      [ -e "$image$library" ] || { mkdir -p "$image$(dirname "$library")" && cp -L "$library" "$image$library"; }
    done
  done
}

for folder in usr/sbin usr/lib usr/lib64 etc proc sys dev run tmp boot var/lib; do mkdir -p "$image/$folder"; done
ln -s sbin "$image/usr/bin"
for link in bin sbin lib lib64; do ln -s "usr/$link" "$image/$link"; done
for name in lvm mdadm dmsetup wipefs lsblk blkid blockdev blkdiscard losetup partx sgdisk mkfs.ext4 mkfs.fat mkswap mount umount udevadm kmod \
  busybox dd flock; do
  copy usr/sbin "$(command -v "$name")"
done
for name in pvs vgs lvs pvcreate vgcreate lvcreate lvchange vgchange vgremove pvremove pvscan; do ln -s lvm "$image/usr/sbin/$name"; done
for name in modprobe depmod; do ln -s kmod "$image/usr/sbin/$name"; done
busybox --list | while read -r name; do
  [ -e "$image/usr/sbin/$name" ] || [ -L "$image/usr/sbin/$name" ] || ln -s busybox "$image/usr/sbin/$name"
done
# udevd is udevadm under another name; libkmod is loaded by name.
mkdir -p "$image/usr/lib/systemd" "$image/usr/lib/udev"
ln -s ../../sbin/udevadm "$image/usr/lib/systemd/systemd-udevd"
cp -L /usr/lib/x86_64-linux-gnu/libkmod.so.2 "$image/usr/lib/x86_64-linux-gnu/" 2>/dev/null || true
cp -R /usr/lib/udev/rules.d "$image/usr/lib/udev/"
for name in ata_id scsi_id; do copy usr/lib/udev "/usr/lib/udev/$name"; done
cp -R /etc/lvm "$image/etc/"
cp /etc/passwd /etc/group "$image/etc/"
copy test "$@"

version=$(ls "$kernel/lib/modules")
mkdir -p "$image/usr/lib/modules/$version"
cp "$kernel/lib/modules/$version/"modules.* "$image/usr/lib/modules/$version/"
for name in virtio_pci virtio_blk virtio_scsi ata_piix sd_mod nvme loop dm-mod dm-thin-pool dm-mirror dm-snapshot raid1 raid0 linear ext4 vfat nls_ascii nls_cp437; do
  modprobe -d "$kernel" -S "$version" --show-depends "$name" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | sort -u | while read -r module; do
  to=$image/usr/lib/modules/$version/${module#*/lib/modules/"$version"/}
  mkdir -p "$(dirname "$to")"
  cp "$module" "$to"
done
cp "$init" "$image/init"
chmod 755 "$image/init"
(cd "$image" && find . | cpio --quiet -o -H newc -R 0:0) >"$out"
