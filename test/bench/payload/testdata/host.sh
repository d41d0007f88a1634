#!/bin/sh
# Makes a folder the root of a host: host.sh ROOT NAME COMMAND…, run in new namespaces of
# mounts, names, processes and network. Programs are this machine's, all else is the host's.
set -eu
root=$1 name=$2
shift 2
mount --make-rprivate /
hostname "$name"
mount --bind "$root" "$root" # what runs inside expects / to be a mount
mkdir -p "$root/usr" "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/tmp" "$root/local"
mount --rbind /usr "$root/usr"
mount --bind "$root/local" "$root/usr/local"
for dir in bin sbin lib lib64; do
    [ -e "$root/$dir" ] || ln -s "usr/$dir" "$root/$dir"
done
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
# A new network comes with a new /sys, which has no control groups.
groups=$root/sys/fs/cgroup
if [ -z "$(ls "$groups")" ]; then
    if grep -q '^0::/' /proc/self/cgroup && [ "$(wc -l </proc/self/cgroup)" -eq 1 ]; then
        mount -t cgroup2 cgroup2 "$groups"
    else
        mount -t tmpfs tmpfs "$groups"
        while IFS=: read -r _ kinds _; do
            case $kinds in '' | name=*) continue ;; esac
            mkdir "$groups/$kinds"
            mount -t cgroup -o "$kinds" cgroup "$groups/$kinds"
        done </proc/self/cgroup
    fi
fi
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/opt" "$root/var"
mount --bind "$root/var" "$root/var"
mount --make-shared "$root/var"
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec chroot "$root" "$@"
