package inventory

import (
	"net/netip"
	"path"
	"strings"
)

// iscsiAddress is the host's own address of the session that carries a disk. The device
// hangs at .../host2/session1/target2:0:0/2:0:0:0; the software initiator shows the
// address at the SCSI host, adapters that are initiators themselves at the connection.
func (m Machine) iscsiAddress(name string) string {
	host, rest, found := strings.Cut(m.deviceFolder(name), "/session")
	if !found {
		return ""
	}
	texts := []string{m.text("/sys/class/iscsi_host/" + path.Base(host) + "/ipaddress")}
	session, _, _ := strings.Cut(rest, "/")
	const connections = "/sys/class/iscsi_connection"
	for _, connection := range m.list(connections) {
		if strings.HasPrefix(connection, "connection"+session+":") {
			texts = append(texts, m.text(connections+"/"+connection+"/local_ipaddr"))
		}
	}
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil && !address.IsUnspecified() {
			return text
		}
	}
	return ""
}
