#!/bin/sh
# Packs the tree for live systems, in the form of CoreOS: an archive with the squashfs first.
#   ROOT   what root.sh left
# Leaves: rootfs.img
set -eu
mkdir -p archive/etc
zstd -q -dc "$ROOT/root.tar.zst" | nice sqfstar -quiet -no-progress -comp zstd archive/root.squashfs 'boot/*' 'dev/*'
echo 1 >archive/etc/coreos-live-rootfs
find archive -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
(cd archive && printf '%s\n' root.squashfs etc etc/coreos-live-rootfs | cpio --quiet --create --format=newc --owner=0:0 --reproducible) >rootfs.img
rm -rf archive
