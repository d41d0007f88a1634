package staticnet

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Folder is where a booted machine finds the settings of all hosts, one folder each
// (contract/ignition.md, 5a).
const Folder = "/etc/assisted/network"

// ScriptPath is where a booted machine finds Script.
const ScriptPath = "/usr/local/bin/pre-network-manager-config.sh"

// keyfilesScriptPath is where an initramfs finds Script(MethodKeyfiles) beside the other.
const keyfilesScriptPath = "/usr/local/bin/pre-network-manager-config-keyfiles.sh"

//go:embed script/find.sh
var findScript []byte

//go:embed script/keyfiles.sh
var keyfilesScript []byte

//go:embed script/nmstate.sh
var nmstateScript []byte

// Script gives NetworkManager the settings of the host whose MAC address the machine has,
// and fails when it cannot. It needs a shell, cat, chmod, mkdir, rm and sleep, and with
// MethodNMState nmstatectl. Its arguments are the folders of settings (Folder),
// connections (/etc/NetworkManager/system-connections) and interfaces (/sys/class/net),
// and the seconds it waits for interfaces; none are needed in a live system.
func Script(how Method) []byte {
	if how == MethodNMState {
		return slices.Concat(findScript, nmstateScript)
	}
	return slices.Concat(findScript, keyfilesScript)
}

// File is a file of a booted machine.
type File struct {
	Path    string
	Mode    int
	Content []byte
}

// Files are the settings of all hosts: host<N> in the order of the list, each with its
// connections or its NMState YAML, and mac_interface.ini, a line MAC=name for each interface.
func Files(hosts []Host, how Method) ([]File, error) {
	var out []File
	for i, h := range hosts {
		folder := fmt.Sprintf("%s/host%d/", Folder, i)
		settings, err := h.settings(how)
		if err != nil {
			return nil, fmt.Errorf("make network settings of host %d: %w", i, err)
		}
		for _, name := range sortedKeys(settings) {
			out = append(out, File{folder + name, 0o600, settings[name]})
		}
		var macs strings.Builder
		for _, nic := range h.NICs {
			fmt.Fprintf(&macs, "%s=%s\n", nic.MAC, nic.Name)
		}
		out = append(out, File{folder + "mac_interface.ini", 0o600, []byte(macs.String())})
	}
	return out, nil
}

func (h Host) settings(how Method) (map[string][]byte, error) {
	if how == MethodNMState {
		text, err := NMState(h)
		return map[string][]byte{"network.yml": text}, err
	}
	return Keyfiles(h)
}
