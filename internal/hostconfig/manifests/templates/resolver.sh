#!/bin/bash
# Puts the name server of this node before the name servers of the network whenever they change.
set -euo pipefail
case "${2:-}" in
  up | reapply | dhcp4-change | dhcp6-change | connectivity-change) ;;
  *) exit 0 ;;
esac
servers=/run/NetworkManager/resolv.conf
[[ -f "$servers" ]] || exit 0
next=$(mktemp /etc/resolv.conf.XXXXXX)
{
  echo "search {{ .Domain }}"
  echo "nameserver {{ .Address }}"
  grep --fixed-strings --invert-match --line-regexp "nameserver {{ .Address }}" "$servers" | grep --invert-match '^search ' || true
} > "$next"
chmod 0644 "$next"
restorecon "$next" || true
mv --force "$next" /etc/resolv.conf
