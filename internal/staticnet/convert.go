package staticnet

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
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
			return nil, err
		}
	}
	for _, step := range []func() error{c.addRoutes, c.addDNS, c.addRules} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	out := make(map[string][]byte, len(c.files))
	for name, file := range c.files {
		out[name+".nmconnection"] = file.bytes()
	}
	return out, nil
}

// conversion is a host's settings on their way to files.
type conversion struct {
	host       Host
	interfaces []iface
	files      map[string]*keyfile // by interface
	ports      map[string]port
	counts     map[string]int // of numbered keys, by interface, section and key
}

// port is an interface that belongs to another one.
type port struct {
	owner, kind string // kind: bond or bridge
	settings    bridgePort
}

// kernelName is what the kernel takes as the name of an interface that it makes (15 bytes).
var kernelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}$`)

// kinds are the types of interfaces and what they are to NetworkManager.
var kinds = map[string]string{"ethernet": "ethernet", "vlan": "vlan", "bond": "bond", "linux-bridge": "bridge", "dummy": "dummy"}

// newConversion finds the interfaces and which of them are ports of others. Those that
// are named only as a base or a port are Ethernet interfaces without settings.
func newConversion(h Host) (*conversion, error) {
	if len(h.state.Interfaces) == 0 {
		return nil, fmt.Errorf("interfaces: require at least one interface, found none")
	}
	c := &conversion{host: h, files: map[string]*keyfile{}, ports: map[string]port{}, counts: map[string]int{}}
	seen := map[string]bool{}
	for i, one := range h.state.Interfaces {
		at := fmt.Sprintf("interfaces[%d]", i)
		if err := checkInterface(at, one, h); err != nil {
			return nil, err
		}
		if seen[one.Name] {
			return nil, fmt.Errorf("%s.name: require each interface once, found %s again", at, one.Name)
		}
		seen[one.Name] = true
		c.interfaces = append(c.interfaces, one)
	}
	for i, one := range h.state.Interfaces {
		for _, used := range usedBy(one) {
			at := fmt.Sprintf("interfaces[%d]", i)
			if err := c.use(at, one, used); err != nil {
				return nil, err
			}
			if seen[used.Name] {
				continue
			}
			if h.mac(used.Name) == "" {
				return nil, fmt.Errorf("%s: require %s among the interfaces or in mac_interface_map, found it in neither", at, used.Name)
			}
			seen[used.Name] = true
			c.interfaces = append(c.interfaces, iface{Name: used.Name, Type: "ethernet"})
		}
	}
	return c, nil
}

// usedBy are the interfaces that one is made of.
func usedBy(one iface) []bridgePort {
	var out []bridgePort
	switch {
	case one.Type == "vlan":
		out = append(out, bridgePort{Name: one.VLAN.Base})
	case one.Type == "bond":
		for _, name := range one.Bond.ports() {
			out = append(out, bridgePort{Name: name})
		}
	case one.Type == "linux-bridge" && one.Bridge != nil:
		out = one.Bridge.Port
	}
	return out
}

func (c *conversion) use(at string, owner iface, used bridgePort) error {
	if used.Name == owner.Name {
		return fmt.Errorf("%s: require another interface than %s itself", at, owner.Name)
	}
	if owner.Type == "vlan" {
		return nil
	}
	if taken, exists := c.ports[used.Name]; exists {
		return fmt.Errorf("%s: require an interface that is no port yet, found %s, a port of %s", at, used.Name, taken.owner)
	}
	c.ports[used.Name] = port{owner.Name, kinds[owner.Type], used}
	return nil
}

func checkInterface(at string, one iface, h Host) error {
	kind, known := kinds[one.Type]
	switch {
	case !nicName.MatchString(one.Name):
		return fmt.Errorf("%s.name: require the name of an interface, found %q", at, one.Name)
	case !known:
		return fmt.Errorf("%s.type: require one of %s, found %q", at, strings.Join(sortedKeys(kinds), ", "), one.Type)
	case kind == "ethernet" && h.mac(one.Name) == "":
		return fmt.Errorf("%s.name: require %s in mac_interface_map, found no MAC address for it", at, one.Name)
	case kind != "ethernet" && !kernelName.MatchString(one.Name):
		return fmt.Errorf("%s.name: require at most 15 characters, found %q", at, one.Name)
	case !slices.Contains([]string{"", "up", "down"}, one.State):
		return fmt.Errorf("%s.state: require up or down, found %q", at, one.State)
	case !slices.Contains([]string{"", "name", "mac-address"}, one.Identifier):
		return fmt.Errorf("%s.identifier: require name or mac-address, found %q", at, one.Identifier)
	case one.MTU != nil && (*one.MTU < 68 || *one.MTU > 65535):
		return fmt.Errorf("%s.mtu: require 68 to 65535, found %d", at, *one.MTU)
	}
	if mac, err := net.ParseMAC(one.MAC); one.MAC != "" && (err != nil || len(mac) != 6) {
		return fmt.Errorf("%s.mac-address: require a MAC address, found %q", at, one.MAC)
	}
	return checkKind(at, one)
}

// connectionID is the same for the same interface of the same host: what refers to it
// can be written without asking.
func (c *conversion) connectionID(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("slipway static network "+c.host.NICs[0].MAC+" "+name)).String()
}

// priority lets these connections win over what the live system made up by itself.
const priority = "100"

func (c *conversion) convert(i int) error {
	one := c.interfaces[i]
	at := fmt.Sprintf("interfaces[%d]", i)
	file := &keyfile{}
	c.files[one.Name] = file
	file.set("connection", "id", one.Name)
	file.set("connection", "uuid", c.connectionID(one.Name))
	file.set("connection", "type", kinds[one.Type])
	if one.Type != "ethernet" {
		file.set("connection", "interface-name", one.Name)
	}
	file.set("connection", "autoconnect", strconv.FormatBool(one.State != "down"))
	file.set("connection", "autoconnect-priority", priority)
	if one.LLDP != nil {
		file.set("connection", "lldp", strconv.Itoa(map[bool]int{true: 1}[one.LLDP.Enabled]))
	}
	c.convertEthernet(file, one)
	if err := c.convertKind(file, one); err != nil {
		return fmt.Errorf("%s.%w", at, err)
	}
	if owner, isPort := c.ports[one.Name]; isPort {
		return c.convertPort(at, file, one, owner)
	}
	if err := convertIP(file, "ipv4", one.IPv4); err != nil {
		return fmt.Errorf("%s.%w", at, err)
	}
	if err := convertIP(file, "ipv6", one.IPv6); err != nil {
		return fmt.Errorf("%s.%w", at, err)
	}
	return nil
}

func (c *conversion) convertPort(at string, file *keyfile, one iface, owner port) error {
	if one.IPv4.Enabled || one.IPv6.Enabled {
		return fmt.Errorf("%s: require no addresses on %s, a port of %s, found some", at, one.Name, owner.owner)
	}
	file.set("connection", "master", owner.owner)
	file.set("connection", "slave-type", owner.kind)
	if owner.kind == "bridge" {
		file.setBool("bridge-port", "hairpin-mode", owner.settings.Hairpin)
		file.setInt("bridge-port", "path-cost", owner.settings.PathCost)
		file.setInt("bridge-port", "priority", owner.settings.Priority)
	}
	return nil
}
