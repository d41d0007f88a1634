#!/bin/sh
# The first boot of a node (openshift/machine-config-operator, templates/common/_base/units,
# machine-config-daemon-firstboot.service): the operating system of the release is written, which here is the time that
# the programs take to come, and the host boots once more. Nothing of the node runs before.
set -eu
mark=$1
{ echo "bench: [$(cut -d' ' -f1 /proc/uptime)] first boot: operating system of the release written, rebooting" >/dev/console; } 2>/dev/null || true
mv "$mark" "$mark.bak"
sync
systemctl reboot
