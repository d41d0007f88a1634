#!/bin/sh
# Gives NetworkManager the connections of the host whose MAC address this machine has.
# Runs in the live system and in its initramfs, so with the simplest of shells.
settings=${1:-/etc/assisted/network}
connections=${2:-/etc/NetworkManager/system-connections}
interfaces=${3:-/sys/class/net}

has() {
	for file in "$interfaces"/*/address; do
		[ -r "$file" ] || continue
		read -r found <"$file" || [ -n "$found" ] || continue
		[ "$found" = "$1" ] && return 0
	done
	return 1
}

for host in "$settings"/host*; do
	[ -r "$host/mac_interface.ini" ] || continue
	while IFS='=' read -r mac _; do
		has "$mac" || continue
		mkdir -p "$connections"
		for file in "$host"/*.nmconnection; do
			[ -r "$file" ] || continue
			cp "$file" "$connections/" && chmod 600 "$connections/${file##*/}" || exit 1
		done
		echo "network settings of ${host##*/} are in place"
		exit 0
	done <"$host/mac_interface.ini"
done
echo "no network settings for this machine"
