package nmstate_test

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// differences lists the intended differences between nmstate's keyfiles and ours. Each settle removes its difference from both and
// reports whether there was any.
var differences = []struct {
	name, reason string
	settle       func(theirs, ours files) bool
}{
	{
		"an Ethernet interface is found by its MAC address",
		"nmstate does not know what the machine calls it, and a file that goes by address fits the live system and the installed one",
		settleAddresses,
	},
	{
		"what runs over an Ethernet interface names its connection",
		"its name is not known; nmstate does the same for interfaces that are identified by their MAC address",
		settleParents,
	},
	{
		"an Ethernet interface that is only named as a base has a connection",
		"it is found by its MAC address there, and has to be up for what runs over it",
		settleBases,
	},
	{
		"ports of a bridge keep their settings when they are found by MAC address",
		"nmstate looks ports up by the name in their connection and loses the settings of those that have none; hosts need them",
		settlePorts,
	},
	{
		"our connections have a priority",
		"they win over those an initramfs makes up of kernel arguments, which have the same or less otherwise",
		settlePriority,
	},
	{
		"routes and rules are in the order of the settings",
		"nmstate sorts routes and leaves the order of rules to chance; neither order has a meaning",
		settleOrder,
	},
}

func settleAddresses(theirs, ours files) bool {
	found := false
	for file, sections := range ours {
		name := theirs[file]["connection"]["interface-name"]
		if mac := macs[name]; mac == "" || !strings.EqualFold(sections["ethernet"]["mac-address"], mac) {
			continue
		}
		remove(theirs[file], "connection", "interface-name")
		remove(sections, "ethernet", "mac-address")
		found = true
	}
	return found
}

func settleParents(theirs, ours files) bool {
	found := false
	for file, sections := range ours {
		for _, section := range []string{"vlan", "vxlan", "macvlan"} {
			base := theirs[file][section]["parent"]
			uuid := ours[base+".nmconnection"]["connection"]["uuid"]
			if macs[base] != "" && uuid != "" && sections[section]["parent"] == uuid {
				sections[section]["parent"] = base
				found = true
			}
		}
	}
	return found
}

func settleBases(theirs, ours files) bool {
	found := false
	for file, sections := range ours {
		_, theyHave := theirs[file]
		silent := sections["ipv4"]["method"] == "disabled" && sections["ipv6"]["method"] == "disabled" && len(sections["ethernet"]) == 1
		name := strings.TrimSuffix(file, ".nmconnection")
		if !theyHave && silent && strings.EqualFold(sections["ethernet"]["mac-address"], macs[name]) {
			delete(ours, file)
			found = true
		}
	}
	return found
}

func settlePorts(theirs, ours files) bool {
	found := false
	for file, sections := range ours {
		if theirs[file]["ethernet"]["mac-address"] != "" && theirs[file]["bridge-port"] == nil && sections["bridge-port"] != nil {
			delete(sections, "bridge-port")
			found = true
		}
	}
	return found
}

func settlePriority(_, ours files) bool {
	found := false
	for _, sections := range ours {
		found = found || sections["connection"]["autoconnect-priority"] == "1"
		remove(sections, "connection", "autoconnect-priority")
	}
	return found
}

var numbered = regexp.MustCompile(`^(route|routing-rule)[0-9]+$`)

func settleOrder(theirs, ours files) bool {
	found := false
	for file, sections := range ours {
		for _, family := range []string{"ipv4", "ipv6"} {
			before := maps.Clone(sections[family])
			sorted(sections[family])
			sorted(theirs[file][family])
			found = found || !maps.Equal(before, sections[family])
		}
	}
	return found
}

// sorted numbers routes and rules in the order of their content.
func sorted(section map[string]string) {
	series := map[string][][2]string{}
	for key, value := range section {
		if kind := numbered.FindStringSubmatch(key); kind != nil {
			series[kind[1]] = append(series[kind[1]], [2]string{value, section[key+"_options"]})
			delete(section, key)
			delete(section, key+"_options")
		}
	}
	for kind, list := range series {
		slices.SortFunc(list, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
		for i, one := range list {
			section[kind+" "+string(rune('a'+i))] = one[0] + " " + one[1]
		}
	}
}

// remove takes a key out of a section, and the section when it was the last.
func remove(sections map[string]map[string]string, section, key string) {
	delete(sections[section], key)
	if len(sections[section]) == 0 {
		delete(sections, section)
	}
}

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
