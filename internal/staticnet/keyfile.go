package staticnet

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// keyfile is a file of nm-settings-keyfile(5): sections in order, keys in order.
type keyfile struct{ sections []section }

type section struct {
	name  string
	lines [][2]string
}

// set adds a key to a section, which is made when it is not there. An empty value is left out.
func (k *keyfile) set(name, key, value string) {
	at := slices.IndexFunc(k.sections, func(s section) bool { return s.name == name })
	if at < 0 {
		k.sections = append(k.sections, section{name: name})
		at = len(k.sections) - 1
	}
	if value != "" {
		k.sections[at].lines = append(k.sections[at].lines, [2]string{key, value})
	}
}

func (k *keyfile) setInt(name, key string, value *int) {
	if value != nil {
		k.set(name, key, strconv.Itoa(*value))
	}
}

func (k *keyfile) setBool(name, key string, value *bool) {
	if value != nil {
		k.set(name, key, strconv.FormatBool(*value))
	}
}

// sectionOrder is the order of sections in the file; others follow.
var sectionOrder = []string{"connection", "ethernet", "vlan", "bond", "bridge", "bridge-port", "dummy", "ipv4", "ipv6"}

func (k *keyfile) bytes() []byte {
	rank := func(s section) int {
		if at := slices.Index(sectionOrder, s.name); at >= 0 {
			return at
		}
		return len(sectionOrder)
	}
	sorted := slices.Clone(k.sections)
	slices.SortStableFunc(sorted, func(a, b section) int { return cmp.Compare(rank(a), rank(b)) })
	var out bytes.Buffer
	for i, s := range sorted {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[%s]\n", s.name)
		for _, line := range s.lines {
			fmt.Fprintf(&out, "%s=%s\n", line[0], line[1])
		}
	}
	return out.Bytes()
}

// listed writes a list the way keyfiles do: each item ends with a semicolon.
func listed(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return strings.Join(items, ";") + ";"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
