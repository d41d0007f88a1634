#!/bin/sh
# Makes a host of the namespaces it runs in, and becomes its agent. Everything mounted
# here is seen in this mount namespace only.
# Environment: NAME, DIR (the host's folder, with root/, resolv.conf, chrony.conf), TOOLS, and what AGENT needs.
set -eu

hostname "$NAME"
ip link set lo up
ip link set eth0 up
resolv=$(readlink -f /etc/resolv.conf)
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p -m 750 /run/chrony
# Where the medium is that the host booted from; the device is in the host's tree.
mkdir -p /run/media/iso
mount -t tmpfs /dev/sr0 /run/media/iso
mkdir -p "$(dirname "$resolv")"
[ -e "$resolv" ] || : >"$resolv"
mount --bind "$DIR/resolv.conf" "$resolv"
mount --bind /proc/sys "$DIR/root/proc/sys"
busybox udhcpc -i eth0 -n -q -f -t 20 -T 1 -s "$DIR/dhcp.sh" >"$DIR/dhcp.log" 2>&1
setpriv --pdeathsig KILL chronyd -x -d -f "$DIR/chrony.conf" >"$DIR/chrony.log" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ -S /run/chrony/chronyd.sock ] && break
	sleep 0.2
done
# The agent finds the commands a host has, and none that would tell of this machine's hardware.
PATH=$TOOLS
exec "$AGENT" --url "$URL" --infra-env-id "$INFRA_ENV" --agent-version "$AGENT_VERSION" --root "$DIR/root" >>"$DIR/agent.log" 2>&1
