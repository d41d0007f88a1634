
# called prints the name of the interface that the settings call $1.
called() {
	while IFS='=' read -r mac logical; do
		[ "$logical" = "$1" ] || continue
		here=$(named "$mac")
		printf '%s' "${here:-$1}"
		return
	done <"$host/mac_interface.ini"
	printf '%s' "$1"
}

# translate puts names of this machine where a connection cannot go by MAC addresses.
translate() {
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		primary=*) line=primary=$(called "${line#primary=}") ;;
		routing-rule*" iif "*)
			rest=${line#* iif }
			name=${rest%% *}
			line="${line%% iif *} iif $(called "$name")${rest#"$name"}"
			;;
		esac
		printf '%s\n' "$line"
	done
}

for file in "$host"/*.nmconnection; do
	[ -r "$file" ] || continue
	translate <"$file" >"$connections/.new" || fail "cannot write to $connections"
	place "${file##*/}" <"$connections/.new"
done
rm -f "$connections/.new"
[ "$placed" -gt 0 ] || fail "$host has no connections"
echo "network settings of ${host##*/} are in place: $placed connections"
