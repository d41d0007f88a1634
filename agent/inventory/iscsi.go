package inventory

import (
	"net/netip"
	"path"
	"slices"
	"strings"
)

// iscsiAddress finds the host's own address of the session that carries a disk. The device hangs at
// .../host2/session1/target2:0:0/2:0:0:0; the software initiator shows the address at the SCSI
// host, adapters that are initiators themselves at the connection.
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

// bootableOverISCSI lists the reasons why a host cannot be installed on an iSCSI disk or cannot boot from it afterwards: the disk and its
// session are up, and the firmware logs in to its target before the system starts.
func (m Machine) bootableOverISCSI(name string) []string {
	var reasons []string
	if state := m.text("/sys/block/" + name + "/device/state"); state != "" && state != "running" {
		reasons = append(reasons, reasonISCSIState+state)
	}
	host, rest, _ := strings.Cut(m.deviceFolder(name), "/session")
	number, _, _ := strings.Cut(rest, "/")
	session := "/sys/class/iscsi_session/session" + number
	if state := m.text(session + "/state"); state != "" && state != "LOGGED_IN" {
		reasons = append(reasons, reasonISCSISession+state)
	}
	targets, found := m.bootTargets(strings.TrimPrefix(path.Base(host), "host"))
	target := m.text(session + "/targetname")
	switch {
	case !found:
		reasons = append(reasons, reasonISCSITable)
	case target == "": // some adapters do not report it
	case !slices.ContainsFunc(targets, func(t string) bool { return strings.EqualFold(t, target) }):
		reasons = append(reasons, reasonISCSITarget+target)
	}
	return reasons
}

// bootTargets lists the names of the targets that the firmware boots from; found says whether it has a table. The machine's own is ibft;
// an adapter with a SCSI host number has its table in iscsi_boot with this number (drivers/scsi/iscsi_boot_sysfs.c).
func (m Machine) bootTargets(host string) (names []string, found bool) {
	for _, table := range []string{"/sys/firmware/ibft", "/sys/firmware/iscsi_boot" + host} {
		found = found || m.exists(table)
		for _, entry := range m.list(table) {
			if name := m.text(table + "/" + entry + "/target-name"); strings.HasPrefix(entry, "target") && name != "" {
				names = append(names, name)
			}
		}
	}
	return names, found
}

// unusablePaths returns the reason against a multipath device of which no path can be booted: one path over another transport, or one
// that can be booted, is enough.
func (m Machine) unusablePaths(name string) []string {
	paths := m.list("/sys/block/" + name + "/slaves")
	for _, p := range paths {
		if !m.overISCSI(p) || len(m.bootableOverISCSI(p)) == 0 {
			return nil
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return []string{reasonISCSIPaths + strings.Join(paths, ", ")}
}

func (m Machine) overISCSI(name string) bool {
	return strings.Contains(m.deviceFolder(name), "/session")
}
