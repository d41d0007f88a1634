#!/bin/sh
# What udhcpc runs: takes the lease for the interface, and the name server for this host.
set -eu
case $1 in
bound | renew)
	ip addr flush dev "$interface" scope global
	ip addr add "$ip/$mask" dev "$interface"
	[ -z "${router:-}" ] || ip route replace default via "${router%% *}" dev "$interface"
	echo "nameserver ${dns%% *}" >/etc/resolv.conf
	;;
esac
