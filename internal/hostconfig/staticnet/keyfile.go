package staticnet

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// keyfile is a file of nm-settings-keyfile(5): values by section and key.
type keyfile map[string]map[string]string

// set writes a key of a section. An empty value only makes sure that the section is there.
func (k keyfile) set(section, key, value string) {
	if k[section] == nil {
		k[section] = map[string]string{}
	}
	if value != "" {
		k[section][key] = value
	}
}

func (k keyfile) setNumber(section, key string, value *number) {
	if value != nil {
		k.set(section, key, value.text())
	}
}

func (k keyfile) setFlag(section, key string, value *flag) {
	if value != nil {
		k.set(section, key, value.text())
	}
}

// to returns set for one section.
func (k keyfile) to(section string) func(key, value string) {
	return func(key, value string) { k.set(section, key, value) }
}

// sectionOrder is NMState's: that makes files easier to compare.
var sectionOrder = []string{
	"connection", "bond", "bond-port", "bridge", "bridge-port", "ipv4", "ipv6", "ethernet", "vlan", "vxlan", "macvlan", "vrf", "user",
	"ethtool",
}

func (k keyfile) bytes() []byte {
	sections := sortedKeys(k)
	slices.SortStableFunc(sections, func(a, b string) int {
		return cmp.Compare(slices.Index(sectionOrder, a), slices.Index(sectionOrder, b))
	})
	var out bytes.Buffer
	for i, section := range sections {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[%s]\n", section)
		for _, key := range sortedKeys(k[section]) {
			fmt.Fprintf(&out, "%s=%s\n", key, k[section][key])
		}
	}
	return out.Bytes()
}

// listed writes a list in the form of keyfiles.
func listed(items []string) string { return strings.Join(items, ";") }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
