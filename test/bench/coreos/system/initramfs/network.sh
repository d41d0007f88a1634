# The network of the bench's initramfs, by the real NetworkManager and its generator of
# connections from kernel arguments.
keyfiles=/run/NetworkManager/system-connections
firstboot=/etc/coreos-firstboot-network

# take_firstboot_network does as coreos-copy-firstboot-network.service: the initramfs uses
# the keyfiles of the image.
take_firstboot_network() {
  [ -n "$(ls -A "$firstboot" 2>/dev/null)" ] || return 0
  mkdir -p "$keyfiles"
  cp "$firstboot"/* "$keyfiles/"
  chmod 600 "$keyfiles"/*
  say "network of the image: $(ls "$keyfiles" | tr '\n' ' ')"
}

# take_image_network takes both ways of an image to bring its network, once.
take_image_network() {
  [ ! -e /run/bench-image-network ] || return 0
  touch /run/bench-image-network
  take_firstboot_network
  run_units
}

# run_units starts what an image brings for systemd in an initramfs: services that are wanted
# there and come before NetworkManager. It runs after the services of CoreOS and dracut that
# write connections (coreos-copy-firstboot-network, dracut-cmdline).
run_units() {
  for link in /etc/systemd/system/initrd.target.wants/*.service; do
    unit=$(readlink -f "$link") && [ -e "$unit" ] || continue
    grep -q '^Before=.*nm-initrd.service' "$unit" || {
      say "unit ${unit##*/} does not come before NetworkManager"
      continue
    }
    say "unit ${unit##*/}"
    sed -n 's/^ExecStart=//p' "$unit" | sh || say "unit ${unit##*/} ended with $?"
  done
}

# until_address: who needs the network needs an address; NetworkManager gives up after a while,
# where on CoreOS it continues to try.
until_address() {
  until [ -n "$(ip -o address show scope global)" ]; do
    say "no address yet"
    sleep 5
    NetworkManager --no-daemon --configure-and-quit=initrd >>/run/networkmanager.log 2>&1
  done
}

# start_network: connections of the kernel arguments and of the image, then NetworkManager
# until all of them are up.
start_network() {
  [ ! -e /run/bench-network ] || return 0
  touch /run/bench-network
  mkdir -p "$keyfiles"
  # shellcheck disable=SC2046 # kernel arguments are words
  /usr/lib/NetworkManager/nm-initrd-generator -- $(cat /proc/cmdline) rd.neednet=1
  take_image_network
  NetworkManager --no-daemon --configure-and-quit=initrd >/run/networkmanager.log 2>&1 || {
    code=$?
    tail -n 20 /run/networkmanager.log
    say "NetworkManager ended with $code"
  }
  say "network: $(ip -o address show scope global | awk '{ print $2, $4 }' | tr '\n' ' ')"
}

# keep_network does as coreos-teardown-initramfs.service at first: keyfiles in /run that are
# more than the default are copied to a system that has no keyfiles. Connections that
# NetworkManager makes up for itself, as for the loopback interface, are not copied.
keep_network() {
  real=/sysroot/etc/NetworkManager/system-connections
  [ -z "$(ls -A "$real" 2>/dev/null)" ] || return 0
  take_image_network # where no network was needed, it is still to be done
  default=/run/bench-default-network
  /usr/lib/NetworkManager/nm-initrd-generator -c "$default" -i "$default.data" -p /nowhere -- rd.neednet=1
  for file in "$keyfiles"/*; do
    [ -e "$file" ] && ! grep -q '^nm-generated=' "$file" && ! same_but_uuid "$file" "$default/${file##*/}" || continue
    mkdir -p "$real"
    cp "$file" "$real/"
    chmod 600 "$real/${file##*/}"
    say "kept ${file##*/}"
  done
}

# same_but_uuid: the generator invents a UUID for each connection.
same_but_uuid() { [ "$(grep -v ^uuid= "$1")" = "$(grep -v ^uuid= "$2" 2>/dev/null)" ]; }

# stop_network lets the system begin with bare interfaces: NetworkManager would take over
# an address that it finds, and ignore the keyfile.
stop_network() {
  [ -e /run/bench-network ] || return 0
  rm -rf /run/NetworkManager/devices
  for interface in /sys/class/net/*; do
    interface=${interface##*/}
    [ -e "/sys/class/net/$interface/address" ] && [ "$interface" != lo ] || continue
    ip address flush dev "$interface"
    ip link set "$interface" down
    [ -e "/sys/class/net/$interface/device" ] || ip link delete "$interface" 2>/dev/null
  done
}
