
# A live image of an older version lacks nmstatectl, and others keep it where it cannot be
# taken out for an initramfs: the connections made by the service are beside the YAML.
if ! command -v nmstatectl >/dev/null; then
	keyfiles=${0%/*}/pre-network-manager-config-keyfiles.sh
	[ -r "$keyfiles" ] || fail "there is no nmstatectl"
	exec /bin/sh "$keyfiles" "$settings" "$connections" "$interfaces" "$patience"
fi

# called prints the name of the interface with a MAC address. What is not there gets a
# name that nothing else has.
called() {
	here=$(named "$1")
	printf '%s' "${here:-$(
		IFS=:
		# shellcheck disable=SC2086
		set -- $1
		printf 'x%s' "$1$2$3$4$5$6"
	)}"
}

# translate puts names of this machine where the settings have <MAC address>.
translate() {
	while IFS= read -r line || [ -n "$line" ]; do
		while :; do
			before=${line%%<??:??:??:??:??:??>*}
			[ "$before" != "$line" ] || break
			after=${line#"$before<"}
			printf '%s%s' "$before" "$(called "${after%%>*}")"
			line=${after#*>}
		done
		printf '%s\n' "$line"
	done
}

# unpack places the connections out of what nmstatectl prints: a list of names and texts
# in YAML, each text in a block of its own, moved right by four.
unpack() {
	name=
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		"- - "*.nmconnection*)
			name=${line#"- - "}
			name=${name#[\"\']}
			name=${name%[\"\']}
			case $name in */*) fail "nmstatectl gave a connection the name $name" ;; esac
			: >"$work/$name"
			;;
		"  - |"*) [ -n "$name" ] || fail "nmstatectl printed a connection without a name" ;;
		"    "* | "") [ -z "$name" ] || printf '%s\n' "${line#    }" >>"$work/$name" ;;
		"NetworkManager:"* | "---") ;;
		*) fail "nmstatectl printed what is no connection: $line" ;;
		esac
	done
}

[ -r "$host/network.yml" ] || fail "$host has no network.yml"
work=${TMPDIR:-/run}/slipway-network.$$
mkdir -p "$work" || fail "cannot make $work"
translate <"$host/network.yml" >"$work/state" || fail "cannot write to $work"
nmstatectl gc "$work/state" >"$work/out" 2>"$work/complaints" || fail "nmstatectl refused them: $(cat "$work/complaints")"
unpack <"$work/out"
for file in "$work"/*.nmconnection; do
	[ -s "$file" ] || continue
	read -r first <"$file"
	[ "$first" = "[connection]" ] || fail "nmstatectl printed what is no connection: $first"
done
for file in "$work"/*.nmconnection; do
	[ -s "$file" ] || continue
	place "${file##*/}" <"$file"
done
rm -rf "$work"
[ "$placed" -gt 0 ] || fail "nmstatectl made no connections"
echo "network settings of ${host##*/} are in place: $placed connections"
