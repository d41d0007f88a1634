#!/bin/sh
# Takes etcd and its client out of Debian's packages, without installing them.
#   PACKAGES, VERSIONS   names, and lines of a name and a version
# Leaves: etcd, etcdctl
set -eu
for package in $PACKAGES; do
  version=$(printf '%s' "$VERSIONS" | awk -v name="$package" '$1 == name { print $2 }')
  apt-get -o APT::Sandbox::User=root -qq download "$package=$version"
done
for file in ./*.deb; do dpkg-deb -x "$file" tree; done
mv tree/usr/bin/etcd tree/usr/bin/etcdctl .
rm -rf tree ./*.deb
