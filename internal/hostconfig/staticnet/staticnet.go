// Package staticnet reads the network settings that a client gives for hosts without
// DHCP, a subset of NMState's YAML with the MAC addresses of the interfaces, and turns
// them into keyfiles of NetworkManager (nm-settings-keyfile(5)).
//
// An Ethernet interface is found by its MAC address, never by its name: the same file
// fits the live system and the installed one, whatever they call the interface.
package staticnet

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
)

// Host is the network of one host.
type Host struct {
	NICs  []NIC
	state state
	tree  map[string]any // the whole YAML, for hosts that apply it themselves
	// placeholder is set while a client still has to fill the host in.
	placeholder bool

	addresses map[string]string // the MAC addresses of NICs, by name
	index     map[string]int    // where interfaces are in the state, by name
}

// NIC ties a name in the settings to a machine's interface.
type NIC struct {
	MAC  string // lower case
	Name string // as the settings call it
}

// Parse reads static_network_config of the API: a JSON list of network_yaml and mac_interface_map. An error is a model.ErrInvalid that
// names its place, what is required there and what was found. Placeholders of clients are taken (see Waiting).
func Parse(text string) ([]Host, error) {
	var list []struct {
		NetworkYAML string `json:"network_yaml"`
		Map         []struct {
			MAC  string `json:"mac_address"`
			Name string `json:"logical_nic_name"`
		} `json:"mac_interface_map"`
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, model.Invalidf("static_network_config: must be a JSON list of network_yaml and mac_interface_map")
	}
	hosts, owners := make([]Host, 0, len(list)), map[string]int{}
	for i, item := range list {
		at := fmt.Sprintf("static_network_config[%d]", i)
		var h Host
		for _, nic := range item.Map {
			h.NICs = append(h.NICs, NIC{strings.ToLower(nic.MAC), nic.Name})
		}
		if err := checkNICs(at, i, h.NICs, owners); err != nil {
			return nil, err
		}
		var err error
		if h.state, h.tree, err = readState(item.NetworkYAML); err == nil {
			h.dropRepeated()
			h.addIndex()
			h.placeholder = h.isPlaceholder()
		}
		if err == nil && !h.placeholder {
			_, err = Keyfiles(h)
		}
		if err == nil && !h.placeholder {
			err = checkIdentified(i, h, owners)
		}
		if err != nil {
			return nil, model.Invalidf("%s.network_yaml: %s", at, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// nicName keeps names out of trouble as names of files and in keyfiles.
var nicName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,62}$`)

// checkNICs holds the map of one host: each address and name once, and no address that
// another host has, because hosts are distinguished by them.
func checkNICs(at string, host int, nics []NIC, owners map[string]int) error {
	if len(nics) == 0 {
		return model.Invalidf("%s.mac_interface_map: the MAC address of at least one interface is required", at)
	}
	names := map[string]bool{}
	for i, nic := range nics {
		place := fmt.Sprintf("%s.mac_interface_map[%d]", at, i)
		if !isMAC(nic.MAC) {
			return model.Invalidf("%s.mac_address: require a MAC address such as 52:54:00:aa:bb:01, found %q", place, nic.MAC)
		}
		if !ofOne(nic.MAC) && !slices.Contains(placeholderMACs, nic.MAC) {
			return model.Invalidf("%s.mac_address: require the MAC address of one interface, found %s", place, nic.MAC)
		}
		if !nicName.MatchString(nic.Name) {
			return model.Invalidf("%s.logical_nic_name: require the name of an interface, found %q", place, nic.Name)
		}
		if names[nic.Name] {
			return model.Invalidf("%s.logical_nic_name: require each name once, found %q again", place, nic.Name)
		}
		if owner, taken := owners[nic.MAC]; taken {
			return model.Invalidf("%s.mac_address: require each MAC address once, found %s again, first for host %d", place, nic.MAC, owner)
		}
		names[nic.Name], owners[nic.MAC] = true, host
	}
	return nil
}

// checkIdentified holds addresses that the settings find interfaces by beside the map.
func checkIdentified(host int, h Host, owners map[string]int) error {
	for i, one := range h.state.Interfaces {
		if one.Identifier != "mac-address" || h.mapped(one.Name) != "" {
			continue
		}
		mac := strings.ToLower(one.MAC)
		if owner, taken := owners[mac]; taken {
			return fmt.Errorf("interfaces[%d].mac-address: require each MAC address once, found %s again, first for host %d", i, mac, owner)
		}
		owners[mac] = host
	}
	return nil
}

// addIndex lets names be found without looking at each: some settings name thousands.
func (h *Host) addIndex() {
	h.addresses, h.index = make(map[string]string, len(h.NICs)), make(map[string]int, len(h.state.Interfaces))
	for _, nic := range h.NICs {
		h.addresses[nic.Name] = nic.MAC
	}
	for i, one := range h.state.Interfaces {
		if _, again := h.index[one.Name]; !again { // refused later
			h.index[one.Name] = i
		}
	}
}

// configured returns the interface that the settings call name; an empty one when it is missing.
func (h Host) configured(name string) iface {
	if i, found := h.index[name]; found {
		return h.state.Interfaces[i]
	}
	return iface{}
}

// predictable is the name that the system itself gives to an Ethernet interface (systemd.net-naming-scheme(7)): "en", the kind
// of place, and numbers of the place.
var predictable = regexp.MustCompile(`^en[PsvxXbucaipod][0-9A-Za-z_]*[0-9][0-9A-Za-z_]*$`)

// longestName is how many characters the kernel allows in the name of an interface.
const longestName = 15

// knows reports whether an Ethernet interface is found on the machine: by its address, or by a name that the system gives it.
func (h Host) knows(name string) bool {
	return h.mac(name) != "" || len(name) <= longestName && predictable.MatchString(name)
}

// mac returns the address of the interface that the settings call name; empty when they do not show it.
func (h Host) mac(name string) string {
	if mac := h.mapped(name); mac != "" {
		return mac
	}
	if one := h.configured(name); one.Identifier == "mac-address" && isMAC(one.MAC) {
		return strings.ToLower(one.MAC)
	}
	return ""
}

// mapped returns the map's address for a name.
func (h Host) mapped(name string) string { return h.addresses[name] }
