package staticnet

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Keyfiles makes the connections of a host, by the name of their file.
func Keyfiles(h Host) (map[string][]byte, error) {
	c, err := newConversion(h)
	if err != nil {
		return nil, err
	}
	for i := range c.interfaces {
		if err := c.convert(i); err != nil {
			return nil, fmt.Errorf("%s.%w", c.place(i), err)
		}
	}
	for _, step := range []func() error{c.addRoutes, c.addRules, c.addDNS} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	out := make(map[string][]byte, len(c.files))
	for i, one := range c.interfaces {
		name := c.files[one.Name]["connection"]["id"] + ".nmconnection"
		if _, taken := out[name]; taken {
			return nil, fmt.Errorf(
				"%s.profile-name: require a name that no other interface has, found %q",
				c.place(i),
				strings.TrimSuffix(name, ".nmconnection"),
			)
		}
		out[name] = c.files[one.Name].bytes()
	}
	return out, nil
}

// conversion is the conversion of a host's settings to files.
type conversion struct {
	host       Host
	interfaces []iface        // interfaces with settings, then interfaces only named in them
	index      map[string]int // where they are, by name
	files      map[string]keyfile
	ports      map[string]iface // the owner, by port
	counts     map[string]int   // of numbered keys, by interface, section and key
	ruled      ruleOwners
	settings   portSettings
}

// kernelName matches the names that the kernel accepts for an interface it makes (15 bytes). It keeps the colon
// for aliases, so NetworkManager refuses it.
var kernelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$`)

// kernelNames are the names that NetworkManager refuses because they have another meaning in /proc/sys/net and /sys/class/net, and the
// interface that always exists.
var kernelNames = []string{"all", "default", "bonding_masters", "lo"}

// newConversion finds the interfaces and which of them are ports of other interfaces. An interface named only as a base or a port is an
// Ethernet interface without settings.
func newConversion(h Host) (*conversion, error) {
	if len(h.state.Interfaces) == 0 {
		return nil, errors.New("interfaces: at least one interface is required")
	}
	c := &conversion{
		host: h, index: map[string]int{}, files: map[string]keyfile{}, ports: map[string]iface{}, counts: map[string]int{},
		settings: portSettings{bond: map[string][]bondPort{}, bridge: map[string]bridgePort{}},
	}
	seen := map[string]bool{}
	for i, one := range h.state.Interfaces {
		one, err := complete(one)
		if err == nil {
			err = checkInterface(one, h)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%w", c.place(i), err)
		}
		if seen[one.Name] {
			return nil, fmt.Errorf("%s.name: require each interface once, found %s again", c.place(i), one.Name)
		}
		seen[one.Name] = true
		c.add(one)
	}
	for i := range c.interfaces {
		if err := c.use(i, seen); err != nil {
			return nil, fmt.Errorf("%s: %w", c.place(i), err)
		}
	}
	return c, c.checkLoops()
}

// complete derives settings that have other names, or that an interface has by itself.
func complete(one iface) (iface, error) {
	if one.Type == "" {
		one.Type = "ethernet"
	}
	if one.BondToo != nil && one.Bond != nil {
		return one, errors.New("bond: not allowed together with link-aggregation")
	}
	if one.Bond == nil {
		one.Bond = one.BondToo
	}
	return one, nil
}

// use registers the ports and parent of interface i.
func (c *conversion) use(i int, seen map[string]bool) error {
	one := c.interfaces[i]
	ports := portsOf(one)
	for _, name := range ports {
		if taken, exists := c.ports[name]; exists {
			return fmt.Errorf("require an interface that is no port yet, found %s, a port of %s", name, taken.Name)
		}
		c.ports[name] = one
	}
	c.settings.add(one)
	if parent := parentOf(one); parent != "" {
		ports = append(slices.Clone(ports), parent)
	}
	for _, name := range ports {
		switch {
		case name == one.Name:
			return fmt.Errorf("require another interface than %s itself", name)
		case seen[name]:
			continue
		case !c.host.knows(name):
			return fmt.Errorf("%q is neither among the interfaces nor in mac_interface_map", name)
		}
		seen[name] = true
		c.add(iface{Name: name, Type: "ethernet"})
	}
	return nil
}

// checkLoops refuses interfaces that are made of each other.
func (c *conversion) checkLoops() error {
	uses := map[string][]string{}
	for _, one := range c.interfaces {
		uses[one.Name] = append(portsOf(one), parentOf(one))
	}
	done := map[string]bool{}
	var visit func(name string, above map[string]bool) bool
	visit = func(name string, above map[string]bool) bool {
		if above[name] {
			return false
		}
		if done[name] {
			return true
		}
		above[name] = true
		defer delete(above, name)
		for _, used := range uses[name] {
			if !visit(used, above) {
				return false
			}
		}
		done[name] = true
		return true
	}
	for i, one := range c.interfaces {
		if !visit(one.Name, map[string]bool{}) {
			return fmt.Errorf("%s: require interfaces that are not made of each other, found %s in a circle", c.place(i), one.Name)
		}
	}
	return nil
}

// place returns the path of an interface in the settings.
func (c *conversion) place(i int) string { return fmt.Sprintf("interfaces[%d]", i) }

func (c *conversion) add(one iface) {
	c.index[one.Name] = len(c.interfaces)
	c.interfaces = append(c.interfaces, one)
}

func (c *conversion) find(name string) (iface, bool) {
	at, found := c.index[name]
	if !found {
		return iface{}, false
	}
	return c.interfaces[at], true
}

// connectionID makes the same id as NMState: the same for the same interface every time, so that references to it can be written
// directly.
func connectionID(one iface) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(one.Type+"://"+one.Name)).String()
}

// reference returns how a connection refers to the one below it. An Ethernet interface is referred to by its
// connection, because its name is unknown here.
func (c *conversion) reference(name string) string {
	if one, found := c.find(name); found && one.Type == "ethernet" {
		return connectionID(one)
	}
	return name
}

// canHaveIP reports whether an interface may have addresses of its own.
func (c *conversion) canHaveIP(one iface) bool {
	owner, isPort := c.ports[one.Name]
	return !isPort || owner.Type == "vrf"
}

// hasFamily reports whether an interface has addresses of a family.
func (c *conversion) hasFamily(one iface, family string) bool {
	return c.canHaveIP(one) && one.family(family).enabled()
}

// hasAddresses reports whether an interface has more than self-assigned addresses of a family, which NetworkManager requires of
// interfaces with routes.
func (c *conversion) hasAddresses(one iface, family string) bool {
	p := one.family(family)
	return c.canHaveIP(one) && (p.static() || p.auto())
}
