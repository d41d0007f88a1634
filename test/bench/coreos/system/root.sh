#!/bin/sh
# Builds the tree of the bench's system from Debian packages, for the live image and for disks.
# Needs no root where users may have namespaces.
#   SYSTEM     this folder
#   KERNEL     what kernel.sh left
#   PACKAGES   names of the packages, separated by commas
#   NMSTATECTL a program that hosts apply NMState with, or nothing
#   INSTALLER  what installer.sh left, or nothing
#   SUITE, MIRROR
# Leaves: root.tar.zst, packages.txt
set -eu
without=
for folder in doc info locale man lintian bash-completion i18n/locales; do
  without="$without --dpkgopt=path-exclude=/usr/share/$folder/*"
done
nmstate=true
[ -z "$NMSTATECTL" ] || nmstate="upload '$NMSTATECTL' /usr/bin/nmstatectl"
installer=true
[ -z "${INSTALLER:-}" ] || installer="upload '$INSTALLER/coreos-installer' /usr/bin/coreos-installer"
# shellcheck disable=SC2086 # the exclusions are words
mmdebstrap --quiet --variant=apt --format=tar --include="$PACKAGES" \
  --aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Retries "3"' $without \
  --customize-hook="sync-in '$SYSTEM/root' /" \
  --customize-hook="copy-in '$KERNEL/lib/modules' /usr/lib" \
  --customize-hook="$nmstate" \
  --customize-hook="$installer" \
  --customize-hook="copy-out /var/lib/dpkg/status ." \
  --customize-hook="sh '$SYSTEM/root-hook.sh' \"\$1\"" \
  "$SUITE" root.tar $MIRROR
awk '/^Package:/ { name = $2 } /^Version:/ { print name, $2 }' status >packages.txt
rm status
zstd -q -3 -T0 --rm root.tar
