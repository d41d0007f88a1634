package wire

import "strings"

// HasMAC reports whether an interface has a MAC address: the permanent address, or an address that a user gave it.
func (i *Interface) HasMAC(mac string) bool {
	return mac != "" && (strings.EqualFold(i.MacAddress, mac) || strings.EqualFold(i.CurrentMacAddress, mac))
}
