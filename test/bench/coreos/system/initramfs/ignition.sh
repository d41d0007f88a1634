# Ignition's stages, as CoreOS's initramfs runs them.

# take_appended_config is how a live image gives its config: in an initramfs after this one.
take_appended_config() {
  [ -e /config.ign ] || return 0
  cp /config.ign /usr/lib/ignition/user.ign
  say "config of $(wc -c </config.ign) bytes"
}

# stage NAME: Ignition asks indefinitely for what it cannot fetch; that a machine waits for a
# server is seen on the console.
stage() {
  (
    set -o pipefail
    ignition --root=/sysroot --platform="$(argument ignition.platform.id)" --stage="$1" --log-to-stdout 2>&1 |
      tee "/run/ignition/$1.log" | while read -r line; do
      case $line in *'GET '*) say "ignition: GET ${line#*GET }" ;; esac
    done
  ) || {
    code=$?
    tail -n 25 "/run/ignition/$1.log"
    die "Ignition's stage $1 ended with $code"
  }
  say "ignition $1"
}

ignition_before_root() {
  mkdir -p /run/ignition
  stage fetch-offline
  if [ -e /run/ignition/neednet ]; then
    start_network
    until_address
    [ -e /run/ignition.json ] || stage fetch
  fi
  stage kargs
  stage disks
}

ignition_on_root() {
  stage mount
  stage files
  stage umount
}
