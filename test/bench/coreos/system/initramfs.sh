#!/bin/sh
# Builds the initramfs of live images, network boots and disks, out of the tree that
# root.sh left, with the real Ignition, udev and NetworkManager in it.
#   SYSTEM, IGNITION, KERNEL, ROOT   this folder, and what the other scripts left
# Leaves: initrd.img
set -eu
root=$PWD/root
image=$PWD/image
mkdir root image
tar -x --zstd -f "$ROOT/root.tar.zst" -C root --no-same-owner --exclude=./dev --exclude=./usr/lib/modules
libraries=$root/usr/lib/x86_64-linux-gnu

# copy TO FILE...: programs of the tree, and the libraries they load; the tree's own
# loader finds them, so that nothing of this machine gets in.
copy() {
  to=$image/$1
  shift
  mkdir -p "$to"
  for file; do
    [ -e "$file" ] || { echo "require $file" >&2; exit 1; }
    cp -L "$file" "$to/"
    "$root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries:$libraries/systemd" --list "$file" >needs
    sed -nE "s:^.* => $root/([^ ]+) .*:\1:p" needs | while read -r library; do
      [ -e "$image/$library" ] || install -D "$root/$library" "$image/$library"
    done
  done
}

for folder in usr/bin usr/sbin usr/lib usr/lib64 usr/local/bin etc proc sys dev run tmp sysroot var root; do mkdir -p "$image/$folder"; done
for link in bin sbin lib lib64; do ln -s usr/$link "$image/$link"; done
cp -L "$root/lib64/ld-linux-x86-64.so.2" "$image/usr/lib64/"

for name in useradd usermod userdel groupadd groupmod groupdel sgdisk sfdisk mkfs.ext4 mkfs.fat mkswap resize2fs e2fsck \
  wipefs partx blkid udevadm systemctl mount umount losetup ip NetworkManager curl; do
  found=
  for folder in usr/sbin usr/bin; do [ -e "$root/$folder/$name" ] && found=$root/$folder/$name; done
  copy usr/sbin "${found:-$root/usr/bin/$name}"
done
copy usr/sbin "$root/usr/bin/kmod"
ln -s kmod "$image/usr/sbin/modprobe"
copy usr/bin "$IGNITION/ignition"
copy usr/lib/NetworkManager "$root/usr/lib/NetworkManager/nm-initrd-generator"
# Loaded by name when it is needed, so no list of libraries has it.
cp -L "$libraries/libkmod.so.2" "$image/usr/lib/x86_64-linux-gnu/"
# What an image service puts into an initramfs brings no libraries.
cp -L "$libraries/libgcc_s.so.1" "$image/usr/lib/x86_64-linux-gnu/"

# udevd is udevadm under another name.
mkdir -p "$image/usr/lib/systemd/network" "$image/usr/lib/udev/rules.d"
ln -s ../../sbin/udevadm "$image/usr/lib/systemd/systemd-udevd"
for rules in 50-udev-default 60-block 60-cdrom_id 60-persistent-storage 64-btrfs 75-net-description 80-drivers 80-net-setup-link 99-systemd; do
  cp "$root/usr/lib/udev/rules.d/$rules.rules" "$image/usr/lib/udev/rules.d/" 2>/dev/null || true
done
copy usr/lib/udev "$root/usr/lib/udev/ata_id" "$root/usr/lib/udev/cdrom_id" "$root/usr/lib/udev/scsi_id"
cp "$root/usr/lib/systemd/network/99-default.link" "$image/usr/lib/systemd/network/"

cp "$root/bin/busybox" "$image/usr/bin/" # needs no libraries
"$image/usr/bin/busybox" --list | while read -r name; do
  [ -e "$image/usr/sbin/$name" ] || [ -e "$image/usr/bin/$name" ] || ln -s busybox "$image/usr/bin/$name"
done

release=$(cat "$KERNEL/release")
modules=$image/usr/lib/modules/$release
mkdir -p "$modules"
grep -hv '^#' "$SYSTEM/initramfs/modules" "$SYSTEM/initramfs/modules-on-demand" | while read -r module; do
  modprobe -d "$KERNEL" -S "$release" --show-depends "$module"
done >depends
sed -nE "s:^insmod $KERNEL/lib/modules/$release/([^ ]+).*:\1:p" depends | sort -u | while read -r file; do
  install -D -m 644 "$KERNEL/lib/modules/$release/$file" "$modules/$file"
done
cp "$KERNEL/lib/modules/$release/modules.order" "$KERNEL/lib/modules/$release/modules.builtin" "$KERNEL/lib/modules/$release/modules.builtin.modinfo" "$modules/"
depmod -b "$image/usr" "$release"

cp "$SYSTEM/initramfs/init" "$image/init"
mkdir -p "$image/usr/lib/bench" "$image/usr/lib/ignition/base.d" "$image/etc/NetworkManager"
cp "$SYSTEM"/initramfs/*.sh "$SYSTEM/initramfs/modules" "$image/usr/lib/bench/"
printf '[main]\nplugins=keyfile\n' >"$image/etc/NetworkManager/NetworkManager.conf"
printf '{"ignition":{"version":"3.0.0"}}' >"$image/usr/lib/ignition/base.d/00-core.ign"
# Kernel arguments of a config are for disks: a live system has none to change. On a disk
# they would be lost, so that is refused.
printf '#!/bin/sh\n[ -e /run/ostree-live ]\n' >"$image/usr/sbin/ignition-kargs-helper"
chmod 755 "$image/init" "$image/usr/sbin/ignition-kargs-helper"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$image/etc/passwd"
printf 'root:x:0:\ntty:x:5:\ndisk:x:6:\ncdrom:x:24:\n' >"$image/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$image/etc/nsswitch.conf"
touch "$image/etc/initrd-release"

find "$image" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$image" && find . -print0 | LC_ALL=C sort -z | cpio --quiet --null --create --format=newc --owner=0:0 --reproducible) | zstd -q -15 -T0 -o initrd.img
rm -rf root image needs depends
