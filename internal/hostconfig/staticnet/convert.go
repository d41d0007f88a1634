package staticnet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func checkInterface(one iface, h Host) error {
	if err := checkType(one.Type); err != nil {
		return err
	}
	switch ethernet := one.Type == "ethernet"; {
	case !nicName.MatchString(one.Name):
		return fmt.Errorf("name: require the name of an interface, found %q", one.Name)
	case ethernet && !h.knows(one.Name):
		return fmt.Errorf("name: %s has no MAC address in mac_interface_map", one.Name)
	case !ethernet && !kernelName.MatchString(one.Name):
		return fmt.Errorf("name: require at most 15 letters, digits and . _ @ -, found %q", one.Name)
	case !ethernet && slices.Contains(kernelNames, one.Name):
		return fmt.Errorf("name: require a name that Linux does not reserve, found %q", one.Name)
	case !ethernet && h.mapped(one.Name) != "":
		return fmt.Errorf(
			"name: require a name that is not in mac_interface_map, because type %s has no hardware, found %s",
			one.Type,
			one.Name,
		)
	case !slices.Contains([]string{"", "up", "down"}, one.State):
		return fmt.Errorf("state: require up or down, because a machine that boots has nothing to remove, found %q", one.State)
	case !slices.Contains([]string{"", "any", "ipv4", "ipv6", "ipv4+ipv6"}, one.WaitIP):
		return fmt.Errorf("wait-ip: require any, ipv4, ipv6 or ipv4+ipv6, found %q", one.WaitIP)
	case one.ProfileName != "" && !nicName.MatchString(one.ProfileName):
		return fmt.Errorf("profile-name: require letters, digits and . _ - : @, found %q", one.ProfileName)
	case one.Description != "" && !description.MatchString(one.Description):
		return fmt.Errorf("description: require one line of text without backslashes, found %q", one.Description)
	}
	if err := checkHardware(one, h); err != nil {
		return err
	}
	if err := checkSections(one); err != nil {
		return err
	}
	if check := kinds[one.Type].check; check != nil {
		return check(one)
	}
	return nil
}

// description is text that keyfiles and YAML hold without escapes.
var description = regexp.MustCompile(`^[^\pC\\\s]([^\pC\\]{0,253}[^\pC\\\s])?$`)

// smallestIPv6 is the smallest MTU that IPv6 works with (RFC 8200, section 5).
const smallestIPv6 = 1280

// checkHardware holds addresses and sizes of the link.
func checkHardware(one iface, h Host) error {
	own := h.mac(one.Name)
	byMAC := one.Identifier == "mac-address"
	switch {
	case !slices.Contains([]string{"", "name", "mac-address"}, one.Identifier):
		return fmt.Errorf("identifier: require name or mac-address, found %q", one.Identifier)
	case byMAC && one.Type != "ethernet":
		return fmt.Errorf("identifier: require mac-address only with type ethernet, found type %s", one.Type)
	case one.MAC != "" && !isMAC(one.MAC):
		return fmt.Errorf("mac-address: require a MAC address, found %q", one.MAC)
	case one.MAC != "" && !ofOne(one.MAC):
		return fmt.Errorf("mac-address: require the MAC address of one interface, found %s", one.MAC)
	case byMAC && one.MAC != "" && !strings.EqualFold(one.MAC, own):
		return fmt.Errorf(
			"mac-address: require %s as in mac_interface_map, because the interface is identified by it, found %s",
			own,
			one.MAC,
		)
	case one.MTU != nil && (*one.MTU < 68 || *one.MTU > 65535):
		return fmt.Errorf("mtu: require 68 to 65535, found %d", *one.MTU)
	case one.MTU != nil && *one.MTU < smallestIPv6 && one.IPv6.enabled():
		return fmt.Errorf("mtu: require at least %d with IPv6, found %d", smallestIPv6, *one.MTU)
	case one.CopyMACFrom != "" && !slices.Contains([]string{"bond", "linux-bridge"}, one.Type):
		return fmt.Errorf("copy-mac-from: require it only with a bond or a linux-bridge, found type %s", one.Type)
	case one.CopyMACFrom != "" && one.MAC != "":
		return fmt.Errorf("copy-mac-from: not allowed together with mac-address")
	}
	return nil
}

// priority makes these connections win over the live system's own.
const priority = "1"

func (c *conversion) convert(i int) error {
	one := c.interfaces[i]
	file := keyfile{}
	c.files[one.Name] = file
	c.writeConnection(file, one)
	mac, err := c.hardwareAddress(one)
	if err != nil {
		return err
	}
	if one.Type == "ethernet" {
		file.set("ethernet", "mac-address", strings.ToUpper(c.host.mac(one.Name)))
	}
	if mac != "" {
		file.set("ethernet", "cloned-mac-address", strings.ToUpper(mac))
	}
	if one.AcceptAll != nil {
		file.set("ethernet", "accept-all-mac-addresses", map[flag]string{true: "1", false: "0"}[*one.AcceptAll])
	}
	file.setNumber("ethernet", "mtu", one.MTU)
	if one.Description != "" {
		file.set("user", "nmstate.interface.description", one.Description)
	}
	if err := writeEthtool(file, one.Ethtool); err != nil {
		return err
	}
	if write := kinds[one.Type].write; write != nil {
		write(c, file, one)
	}
	return c.convertIPs(file, one)
}

func (c *conversion) writeConnection(file keyfile, one iface) {
	set := file.to("connection")
	set("id", one.Name)
	if one.ProfileName != "" {
		set("id", one.ProfileName)
	}
	set("uuid", connectionID(one))
	set("type", kinds[one.Type].nm)
	if one.Type != "ethernet" || c.host.mac(one.Name) == "" {
		set("interface-name", one.Name)
	}
	set("autoconnect", flag(one.up()).text())
	set("autoconnect-priority", priority)
	set("autoconnect-slaves", "-1")
	if kinds[one.Type].member != "" {
		set("autoconnect-slaves", "1")
	}
	if one.LLDP != nil {
		set("lldp", map[flag]string{true: "1", false: "0"}[one.LLDP.Enabled])
	}
	if owner, isPort := c.ports[one.Name]; isPort {
		set("master", owner.Name)
		set("slave-type", kinds[owner.Type].member)
		c.settings.write(file, owner, one.Name)
	}
}

// portSettings are the owners' settings of their ports, by port: a bridge may have thousands.
type portSettings struct {
	bond   map[string][]bondPort
	bridge map[string]bridgePort
}

// add adds the settings of the ports of one interface.
func (s portSettings) add(owner iface) {
	switch owner.Type {
	case "bond":
		for _, p := range owner.Bond.PortsConfig {
			s.bond[p.Name] = append(s.bond[p.Name], p)
		}
	case "linux-bridge":
		for _, p := range owner.Bridge.ports() {
			s.bridge[p.Name] = p
		}
	}
}

// write writes the owner's settings of a port.
func (s portSettings) write(file keyfile, owner iface, name string) {
	switch owner.Type {
	case "bond":
		for _, p := range s.bond[name] {
			writeBondPort(file, p)
		}
	case "linux-bridge":
		writeBridgePort(file, s.bridge[name])
	}
}

// hardwareAddress returns the MAC address that an interface is given instead of its own.
func (c *conversion) hardwareAddress(one iface) (string, error) {
	switch {
	case one.Type == "vrf", one.Identifier == "mac-address", one.Type == "bond" && one.Bond.keepsAddress():
		return "", nil
	case one.CopyMACFrom == "":
		return one.MAC, nil
	}
	from, found := c.find(one.CopyMACFrom)
	switch {
	case !found:
		return "", fmt.Errorf("copy-mac-from: require one of the interfaces, found %q", one.CopyMACFrom)
	case from.MAC != "":
		return from.MAC, nil
	case c.host.mac(from.Name) != "":
		return c.host.mac(from.Name), nil
	}
	return "", fmt.Errorf("copy-mac-from: require an interface whose address is known, found %s", from.Name)
}

func (c *conversion) convertIPs(file keyfile, one iface) error {
	if !c.canHaveIP(one) {
		if one.IPv4.enabled() || one.IPv6.enabled() {
			return fmt.Errorf("ipv4: %s is a port of %s and must not have addresses", one.Name, c.ports[one.Name].Name)
		}
		return nil
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		if err := convertIP(file, family, one.family(family)); err != nil {
			return fmt.Errorf("%s.%w", family, err)
		}
		if one.WaitIP != "" {
			file.set(family, "may-fail", flag(!strings.Contains(one.WaitIP, family)).text())
		}
	}
	return nil
}
