# The root file system of a live system: read from the image or over HTTP, and written to
# memory only.

# proxy_of_image: the settings that a unit of CoreOS would be given.
proxy_of_image() {
  sed -n 's/^Environment="\(.*\)"$/\1/p' /etc/systemd/system/coreos-livepxe-rootfs.service.d/*.conf 2>/dev/null
}

fetch_root() {
  start_network
  say "rootfs from $1"
  # shellcheck disable=SC2046 # a setting is a word
  (set -o pipefail; cd / && env $(proxy_of_image) curl --silent --show-error --fail --location --retry 5 --retry-connrefused "$1" | cpio -idu) ||
    die "the root file system cannot be fetched"
}

mount_live_root() {
  url=$(argument coreos.live.rootfs_url)
  [ -z "$url" ] || fetch_root "$url"
  if [ -e /root.squashfs ]; then
    squash=/root.squashfs offset=0
  else
    label=$(argument coreos.liveiso)
    within 10 found_label "$label" || die "no disk has the label $label"
    mkdir -p /run/media/iso
    mount -t iso9660 -o ro "$device" /run/media/iso || die "$device cannot be mounted"
    # The archive's only file begins after its header: 110 bytes and the name.
    squash=/run/media/iso/images/pxeboot/rootfs.img offset=124
  fi
  mkdir -p /run/rootfs /run/overlay
  mount -t squashfs -o "ro,loop,offset=$offset" "$squash" /run/rootfs || die "$squash cannot be mounted"
  mount -t tmpfs -o size=70% tmpfs /run/overlay
  mkdir /run/overlay/upper /run/overlay/work
  mount -t overlay -o lowerdir=/run/rootfs,upperdir=/run/overlay/upper,workdir=/run/overlay/work overlay /sysroot || die "the root file system cannot be laid over"
  say "rootfs"
}
