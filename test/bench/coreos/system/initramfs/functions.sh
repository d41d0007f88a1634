# What all parts of the bench's initramfs use.

say() { echo "bench: [$(cut -d' ' -f1 /proc/uptime)] $*"; }

# die ends a machine that cannot continue, as an emergency shell without input would;
# bench.shell gives that shell to who debugs.
die() {
  say "EMERGENCY: $*"
  [ -z "$(argument bench.shell)" ] || sh
  poweroff -f
}

# argument NAME: the value of a kernel argument, the last one if there are several.
argument() {
  value=
  for word in $(cat /proc/cmdline); do
    case $word in
    "$1"=*) value=${word#*=} ;;
    "$1") value=1 ;;
    esac
  done
  echo "$value" | tr -d '"'
}

live() { [ -n "$(argument coreos.liveiso)$(argument coreos.live.rootfs_url)" ] || [ -e /root.squashfs ]; }

first_boot() { [ -n "$(argument ignition.firstboot)" ]; }

# within SECONDS COMMAND: tries until it works.
within() {
  left=$(($1 * 5))
  shift
  until "$@"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || return 1
    sleep 0.2
  done
}

# found_label LABEL: sets device to the block device whose file system has the label.
found_label() { device=$(blkid -L "$1"); }

start_devices() {
  while read -r module; do
    case $module in '#'*) ;; *) modprobe -q "$module" ;; esac
  done </usr/lib/bench/modules
  /usr/lib/systemd/systemd-udevd --daemon
  udevadm trigger --action=add
  udevadm settle
  say "devices"
}
