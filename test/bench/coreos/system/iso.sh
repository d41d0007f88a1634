#!/bin/sh
# Puts a live image together in the shape of CoreOS's: BIOS and UEFI, CD and USB stick, with
# room for an Ignition config and for kernel arguments.
#   SYSTEM, KERNEL, INITRAMFS, ROOTFS, METAL   this folder, and what the other scripts left
#   LABEL, ARGUMENTS                           of the image, and of its kernel
# Leaves: live.iso
set -eu
room=1137 # bytes for kernel arguments
mkdir -p tree/images/pxeboot tree/isolinux tree/EFI/redhat tree/coreos
cp --reflink=auto "$ROOTFS/rootfs.img" "$KERNEL/vmlinuz" "$INITRAMFS/initrd.img" tree/images/pxeboot/
cp --reflink=auto "$METAL/metal.raw.zst" tree/coreos/
truncate -s 256K tree/images/ignition.img
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 tree/isolinux/

# menu FILE: fills the room for kernel arguments in a boot menu and says where it begins.
default="coreos.liveiso=$LABEL ignition.firstboot ignition.platform.id=metal $ARGUMENTS"
filler=$(printf "%$((room - ${#default} - 1))s" '' | tr ' ' '#')
menu() {
  before=$(sed '/@KERNEL_ARGUMENTS@/,$d' "$SYSTEM/iso/${1##*/}"; echo .)
  before=${before%.}$(sed -n 's/@KERNEL_ARGUMENTS@.*//p' "$SYSTEM/iso/${1##*/}")
  {
    printf '%s%s\n%s COREOS_KARG_EMBED_AREA\n' "$before" "$default" "$filler"
    sed '1,/@KERNEL_ARGUMENTS@/d' "$SYSTEM/iso/${1##*/}"
  } >"tree/$1"
  printf '{"path": "%s", "offset": %d, "pad": "#", "end": "\\n"}' "$1" "$(printf %s "$before" | wc -c)"
}
printf '{"default": "%s", "files": [%s, %s], "size": %d}\n' "$default" "$(menu EFI/redhat/grub.cfg)" "$(menu isolinux/isolinux.cfg)" "$room" >tree/coreos/kargs.json
printf '{"file": "images/ignition.img"}\n' >tree/coreos/igninfo.json
printf '{"installer-config": true, "live-initrd-network": true}\n' >tree/coreos/features.json

# GRUB, in a file system that UEFI reads.
printf 'search --no-floppy --set=root --label %s\nset prefix=($root)/EFI/redhat\nconfigfile ($root)/EFI/redhat/grub.cfg\n' "$LABEL" >find.cfg
grub-mkimage -O x86_64-efi -o BOOTX64.EFI -p /EFI/redhat -c find.cfg iso9660 part_gpt part_msdos fat normal search search_label \
  configfile linux echo serial terminal test all_video efi_gop boot reboot
truncate -s 3M tree/images/efiboot.img
mkfs.vfat --invariant -n EFIBOOT tree/images/efiboot.img >/dev/null
mmd -i tree/images/efiboot.img ::EFI ::EFI/BOOT
mcopy -i tree/images/efiboot.img BOOTX64.EFI ::EFI/BOOT/BOOTX64.EFI

find tree -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
xorriso -as mkisofs -quiet -V "$LABEL" -r -J -joliet-long -o live.iso -isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin \
  -c isolinux/boot.cat -b isolinux/isolinux.bin -no-emul-boot -boot-load-size 4 -boot-info-table \
  -eltorito-alt-boot -e images/efiboot.img -no-emul-boot -isohybrid-gpt-basdat tree
rm -rf tree find.cfg BOOTX64.EFI
