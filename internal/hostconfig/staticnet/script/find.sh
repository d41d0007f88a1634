#!/bin/sh
# Gives NetworkManager the connections of the host whose MAC address this machine has.
# Runs in the live system and in its initramfs, so with the simplest of shells.
settings=${1:-/etc/assisted/network}
connections=${2:-/etc/NetworkManager/system-connections}
interfaces=${3:-/sys/class/net}
patience=${4:-15} # seconds that interfaces may take to appear

fail() {
	echo "NETWORK SETTINGS OF THIS MACHINE ARE NOT IN PLACE: $*" >&2
	exit 1
}

# has reports whether an interface has a MAC address. A port of a bond shows the bond's,
# and its own elsewhere.
has() {
	for file in "$1/bonding_slave/perm_hwaddr" "$1/address"; do
		[ -r "$file" ] || continue
		found=
		read -r found <"$file"
		[ "$found" = "$2" ]
		return
	done
	return 1
}

# named prints what this machine calls the interface with a MAC address. Bridges and VLANs
# have the address of what is below them: hardware comes first.
named() {
	candidate=
	for interface in "$interfaces"/*; do
		has "$interface" "$1" || continue
		candidate=${interface##*/}
		[ -e "$interface/device" ] && break
	done
	printf '%s' "$candidate"
}

# find_host sets host to the folder with one of this machine's addresses.
find_host() {
	for host in "$settings"/host*; do
		[ -r "$host/mac_interface.ini" ] || continue
		while IFS='=' read -r mac _; do
			[ -n "$(named "$mac")" ] && return 0
		done <"$host/mac_interface.ini"
	done
	return 1
}

# complete reports whether all interfaces of the host are there.
complete() {
	while IFS='=' read -r mac _; do
		[ -n "$(named "$mac")" ] || return 1
	done <"$host/mac_interface.ini"
}

wait_or() {
	[ "$patience" -gt 0 ] || return 1
	patience=$((patience - 1))
	sleep 1
}

until find_host; do
	wait_or || {
		echo "no network settings for this machine"
		exit 0
	}
done
until complete; do
	wait_or || {
		echo "${host##*/} has network settings of interfaces that this machine lacks" >&2
		break
	}
done

# place puts a connection from the standard input where NetworkManager reads it, which
# refuses files that others can read.
umask 077
mkdir -p "$connections" || fail "cannot make $connections"
placed=0
place() {
	# In an initramfs there are connections made of kernel arguments, or for want of better ones.
	[ "$placed" -gt 0 ] || [ ! -e "${SLIPWAY_ROOT:-}/etc/initrd-release" ] || rm -f "$connections"/*
	cat >"$connections/$1" && chmod 600 "$connections/$1" || fail "cannot write $connections/$1"
	placed=$((placed + 1))
}
