#!/bin/bash
# Reapplies the settings of every interface that the firmware brought up for its disk.
set -euo pipefail
shopt -s nullglob
for entry in /sys/firmware/ibft/ethernet*/mac; do
  mac=$(tr '[:upper:]' '[:lower:]' < "$entry")
  for address in /sys/class/net/*/address; do
    device=${address%/address}
    device=${device##*/}
    # A bridge or a VLAN carries the address of the interface below it.
    if [[ -e "/sys/class/net/$device/device" && "$(< "$address")" == "$mac" ]]; then
      nmcli device reapply "$device" || true
    fi
  done
done
