package staticnet

// Keys that nmstatectl shows and ignores when it applies a state ("query only" in the documentation of NMState).
var (
	shownOfInterface = []string{"min-mtu", "max-mtu", "permanent-mac-address", "driver"}
	shownOfRing      = []string{"rx-max", "rx-mini-max", "rx-jumbo-max", "tx-max"}
	shownOfAddress   = []string{
		"valid-life-time", "valid-left", "valid-lft", "preferred-life-time", "preferred-left", "preferred-lft",
	}
)

// dropShown removes what only nmstatectl show has from a state that a user took from it, and reports whether there was any. What runs is
// dropped beside a config alone: without one, it is all that the user gave.
func dropShown(tree map[string]any) bool {
	found := false
	drop := func(from any, keys ...string) {
		if section, is := from.(map[string]any); is {
			for _, key := range keys {
				if _, has := section[key]; has {
					delete(section, key)
					found = true
				}
			}
		}
	}
	for _, key := range []string{"dns-resolver", "routes"} {
		if section, is := tree[key].(map[string]any); is && section["config"] != nil {
			drop(section, "running")
		}
	}
	interfaces, _ := tree["interfaces"].([]any)
	for _, one := range interfaces {
		drop(one, shownOfInterface...)
		if empty(at(one, "mptcp", "address-flags")) {
			drop(one, "mptcp")
		}
		drop(at(one, "ethtool", "ring"), shownOfRing...)
		for _, family := range []string{"ipv4", "ipv6"} {
			addresses, _ := at(one, family, "address").([]any)
			for _, address := range addresses {
				drop(address, shownOfAddress...)
				if empty(at(address, "mptcp-flags")) {
					drop(address, "mptcp-flags")
				}
			}
		}
	}
	return found
}

// at returns the value at a path of a tree; nil where there is none.
func at(node any, path ...string) any {
	for _, key := range path {
		section, _ := node.(map[string]any)
		node = section[key]
	}
	return node
}

// empty reports whether a value is a list without items.
func empty(value any) bool {
	list, is := value.([]any)
	return is && len(list) == 0
}
