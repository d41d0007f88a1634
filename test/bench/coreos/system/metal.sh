#!/bin/sh
# Makes a disk image in the shape of CoreOS's metal image: BIOS and UEFI, the four partitions
# by their numbers and labels, and the files that coreos-installer edits. Mounts nothing.
#   SYSTEM, KERNEL, INITRAMFS, ROOT   this folder, and what the other scripts left
#   ARGUMENTS                         of the kernel
# Leaves: metal.raw.zst
set -eu
efi=32 boot=128 # sizes in MiB
export E2FSPROGS_FAKE_TIME="$SOURCE_DATE_EPOCH"

# /boot
mkdir -p boot/loader/entries boot/ostree/bench boot/grub2/i386-pc boot/grub2/x86_64-efi
cp "$KERNEL/vmlinuz" boot/ostree/bench/vmlinuz
cp "$INITRAMFS/initrd.img" boot/ostree/bench/initramfs.img
: >boot/ignition.firstboot
cp "$SYSTEM/metal/grub.cfg" boot/grub2/grub.cfg
cat >boot/loader/entries/ostree-1-bench.conf <<END
title Slipway bench
version 1
options \$ignition_firstboot ignition.platform.id=metal $ARGUMENTS
linux /ostree/bench/vmlinuz
initrd /ostree/bench/initramfs.img
END
# module PLATFORM NAME: one that is loaded from /boot, and those that it needs.
module() {
  [ ! -e "boot/grub2/$1/$2.mod" ] || return 0
  cp "/usr/lib/grub/$1/$2.mod" "boot/grub2/$1/"
  for needed in $(sed -n "s/^$2://p" "/usr/lib/grub/$1/moddep.lst"); do module "$1" "$needed"; done
}
for platform in i386-pc x86_64-efi; do module "$platform" linux; done
truncate -s "${boot}M" boot.ext4
# GRUB reads these file systems without the newest of their features.
mkfs.ext4 -q -L boot -U 5117aa00-be9c-4000-8000-00000000b007 -E hash_seed=5117aa00-be9c-4000-8000-000000000001,root_owner=0:0 \
  -O ^metadata_csum_seed,^orphan_file -d boot boot.ext4

# GRUB finds /boot by its label, as CoreOS's does.
printf 'search --no-floppy --set=root --label boot\nset prefix=($root)/grub2\nconfigfile ($root)/grub2/grub.cfg\n' >find.cfg
modules='part_gpt ext2 normal search search_label configfile echo serial terminal test true boot reboot sleep cat ls'
# shellcheck disable=SC2086 # the modules are words
grub-mkimage -O i386-pc -o core.img -p /grub2 -c find.cfg biosdisk $modules
# shellcheck disable=SC2086
grub-mkimage -O x86_64-efi -o grub.efi -p /grub2 -c find.cfg fat all_video efi_gop $modules
truncate -s "${efi}M" efi.fat
mkfs.vfat --invariant -n EFI-SYSTEM efi.fat >/dev/null
mmd -i efi.fat ::EFI ::EFI/BOOT ::EFI/redhat
mcopy -i efi.fat grub.efi ::EFI/BOOT/BOOTX64.EFI
mcopy -i efi.fat grub.efi ::EFI/redhat/shimx64.efi

# The root file system: the tree with its owners, so with root, or a user's ids in a namespace.
cat >root.sh <<'END'
set -eu
mkdir tree
tar -x --zstd -f "$ROOT/root.tar.zst" -C tree --numeric-owner --xattrs --xattrs-include='*' --exclude='./dev/*'
printf 'LABEL=root / ext4 defaults 0 1\nLABEL=boot /boot ext4 nodev,nosuid 0 2\n' >tree/etc/fstab
size=$(($(du -sm --apparent-size tree | cut -f1) * 5 / 4 + 128))
truncate -s "${size}M" root.ext4
mkfs.ext4 -q -L root -U 5117aa00-be9c-4000-8000-00000000f007 -E hash_seed=5117aa00-be9c-4000-8000-000000000002,lazy_itable_init=1 -d tree root.ext4
rm -rf tree
END
if [ "$(id -u)" = 0 ]; then sh root.sh; else unshare --map-root-user --map-auto sh root.sh; fi
root=$(($(stat -c %s root.ext4) >> 20))

first=2048 # sector of the first partition, which GRUB's core is in
truncate -s "$((1 + 1 + efi + boot + root + 1))M" metal.raw
sgdisk --disk-guid=5117AA00-BE9C-4000-8000-000000000000 \
  --new="1:$first:+1M" --change-name=1:BIOS-BOOT --typecode=1:ef02 \
  --new="2:0:+${efi}M" --change-name=2:EFI-SYSTEM --typecode=2:ef00 \
  --new="3:0:+${boot}M" --change-name=3:boot --typecode=3:8300 \
  --new="4:0:+${root}M" --change-name=4:root --typecode=4:8304 metal.raw >/dev/null
for n in 1 2 3 4; do sgdisk --partition-guid="$n:5117AA00-BE9C-4000-8000-00000000000$n" metal.raw >/dev/null; done
at=2 # MiB
for part in efi.fat boot.ext4 root.ext4; do
  dd if="$part" of=metal.raw bs=1M seek="$at" conv=notrunc,sparse status=none
  at=$((at + $(stat -c %s "$part") / 1048576))
done

# What grub-install does on a disk: the boot sector knows where the core is (at 0x5c) and
# trusts the BIOS in which disk it came from (at 0x66); the core's first sector knows where
# the others are and how many (its last 12 bytes).
le64() { for shift in 0 8 16 24 32 40 48 56; do printf '%b' "\\0$(printf %o $(($1 >> shift & 255)))"; done; }
le16() { for shift in 0 8; do printf '%b' "\\0$(printf %o $(($1 >> shift & 255)))"; done; }
patch() { dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
cp /usr/lib/grub/i386-pc/boot.img boot.img
le64 "$first" | patch boot.img 92
printf '\220\220' | patch boot.img 102
sectors=$((($(stat -c %s core.img) + 511) / 512))
[ "$sectors" -le 2048 ] || { echo "require that GRUB fits into 1 MiB, found $sectors sectors" >&2; exit 1; }
{ le64 "$((first + 1))"; le16 "$((sectors - 1))"; le16 2080; } | patch core.img 500
dd if=boot.img of=metal.raw bs=440 count=1 conv=notrunc status=none # what follows is the table of partitions
dd if=core.img of=metal.raw bs=512 seek="$first" conv=notrunc status=none

nice zstd -q -6 -T0 --rm metal.raw
rm -rf boot find.cfg core.img grub.efi boot.img root.sh ./*.fat ./*.ext4
