#!/bin/sh
# Makes a host of the namespaces it runs in, and becomes its agent. Everything mounted
# here is seen in this mount namespace only.
# Environment: DIR (the host's folder, with resolv.conf, chrony.conf, if it has a clock, and
# installed.conf, the boot entry of an installed host), RESTART (not empty: an agent that ends
# is started again), JOURNAL (not empty: the host has one), BOOT_SIZE (of the /boot of an
# installed host; empty: it has none).
# Arguments: the agent and its arguments.
set -eu

mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /opt
if [ -n "$BOOT_SIZE" ]; then
	mount -t tmpfs -o "size=$BOOT_SIZE" tmpfs /boot
	mkdir -p /boot/loader/entries
	cp "$DIR/installed.conf" /boot/loader/entries/ostree-1.conf
	mount -o remount,ro /boot
fi
mkdir -p "$DIR/etc" "$DIR/etc.work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$DIR/etc,workdir=$DIR/etc.work" /etc
ln -sf "$DIR/resolv.conf" /etc/resolv.conf
if [ -e "$DIR/chrony.conf" ]; then
	mkdir -p -m 750 /run/chrony
	setpriv --pdeathsig KILL chronyd -x -d -f "$DIR/chrony.conf" >"$DIR/chrony.log" 2>&1 &
fi
if [ -n "$JOURNAL" ]; then
	# ip-netns(8) mounts another /sys; the journal looks there for who says something.
	mount -t cgroup2 none /sys/fs/cgroup
	mkdir -p /run/log/journal /run/systemd/journal
	setpriv --pdeathsig KILL /lib/systemd/systemd-journald >"$DIR/journald.log" 2>&1 &
fi
while [ -n "$RESTART" ]; do
	setpriv --pdeathsig KILL "$@" || sleep 0.1
done
exec "$@"
