package inventory

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the contract makes ids of hosts with it
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// ErrNoIdentity says that a machine has no hardware to tell it by.
var ErrNoIdentity = errors.New("no board serial, no product UUID and no network interface to make a host id of")

// HostID makes the id of a machine, the same at each boot, in the order of
// docs/reference/agent-protocol.md, "Host id": the board's serial, the product's UUID,
// the lowest MAC address.
func HostID(m Machine) (uuid.UUID, error) {
	serial := m.text("/sys/class/dmi/id/board_serial")
	if !placeholderSerial(serial) {
		return digest(serial), nil
	}
	product := strings.ToLower(m.text("/sys/class/dmi/id/product_uuid"))
	if id, err := uuid.Parse(product); err == nil && !placeholderUUID(id) {
		return id, nil
	}
	if mac := lowestMAC(m); mac != nil {
		return digest(mac.String()), nil
	}
	return uuid.Nil, ErrNoIdentity
}

// digest computes the MD5 of a text in the form of a UUID, its version bits left as they fall.
func digest(text string) uuid.UUID { return md5.Sum([]byte(text)) } //nolint:gosec // as above

// lowestMAC prefers hardware, and its makers' addresses: virtual interfaces get another address at each boot, and the port to a
// management controller has the same address in many machines.
func lowestMAC(m Machine) net.HardwareAddr {
	links, err := m.Links.Links()
	if err != nil {
		return nil
	}
	var made, hardware, others []net.HardwareAddr
	for _, link := range links {
		switch {
		case link.Flags&net.FlagLoopback != 0 || len(link.MAC) != 6 || placeholderMAC(link.MAC):
		case m.kind(link) != typePhysical:
			others = append(others, link.MAC)
		case chosen(link.MAC):
			hardware = append(hardware, link.MAC)
		default:
			made = append(made, link.MAC)
		}
	}
	for _, macs := range [][]net.HardwareAddr{made, hardware, others} {
		if len(macs) > 0 {
			return slices.MinFunc(macs, func(a, b net.HardwareAddr) int { return bytes.Compare(a, b) })
		}
	}
	return nil
}
