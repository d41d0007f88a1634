#!/bin/sh
# Takes a kernel and its modules out of Debian's package, without installing it.
#   PACKAGE, VERSION   of the kernel
# Leaves: vmlinuz, release, lib/modules/
set -eu
apt-get -o APT::Sandbox::User=root -qq download "$PACKAGE=$VERSION"
dpkg-deb -x ./*.deb tree
mv tree/boot/vmlinuz-* vmlinuz
mv tree/lib lib
rm -rf tree ./*.deb
ls lib/modules >release
depmod -b "$PWD" "$(cat release)"
