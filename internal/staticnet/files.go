package staticnet

import (
	_ "embed"
	"fmt"
	"strings"
)

// Folder is where a booted machine finds the settings of all hosts, one folder each
// (contract/ignition.md, 5a).
const Folder = "/etc/assisted/network"

// ScriptPath is where a booted machine finds Script.
const ScriptPath = "/usr/local/bin/pre-network-manager-config.sh"

// Script gives NetworkManager the settings of the host whose MAC address the machine
// has. Its arguments, for tests, are the folders of settings, connections and interfaces.
//
//go:embed pre-network-manager-config.sh
var Script []byte

// File is a file of a booted machine.
type File struct {
	Path    string
	Mode    int
	Content []byte
}

// Files are the settings of all hosts: host<N> in the order of the list, each with its
// connections and mac_interface.ini, a line MAC=name for each interface.
func Files(hosts []Host) ([]File, error) {
	var out []File
	for i, h := range hosts {
		folder := fmt.Sprintf("%s/host%d/", Folder, i)
		keyfiles, err := Keyfiles(h)
		if err != nil {
			return nil, fmt.Errorf("make connections of host %d: %w", i, err)
		}
		for _, name := range sortedKeys(keyfiles) {
			out = append(out, File{folder + name, 0o600, keyfiles[name]})
		}
		var macs strings.Builder
		for _, nic := range h.NICs {
			fmt.Fprintf(&macs, "%s=%s\n", nic.MAC, nic.Name)
		}
		out = append(out, File{folder + "mac_interface.ini", 0o600, []byte(macs.String())})
	}
	return out, nil
}
