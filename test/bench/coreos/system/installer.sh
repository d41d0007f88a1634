#!/bin/sh
# Builds coreos-installer, unchanged, out of its crate, with the versions of its own Cargo.lock.
# It loads libssl and libzstd of the Debian release that both this machine and the tree are of.
#   VERSION   of the crate
# Leaves: coreos-installer
set -eu
CARGO_PROFILE_RELEASE_STRIP=true nice cargo install --quiet --locked --root "$PWD/made" --target-dir "$PWD/target" \
  --version "=$VERSION" coreos-installer
mv made/bin/coreos-installer .
rm -rf made target
