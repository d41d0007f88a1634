package staticnet

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Folder is where a booted machine finds the settings of all hosts, one folder each
// (docs/reference/ignition.md, "Folder of static networks").
const Folder = "/etc/assisted/network"

// ScriptPath is where a booted machine finds Script.
const ScriptPath = "/usr/local/bin/pre-network-manager-config.sh"

// Folders of connections that NetworkManager reads.
const (
	Connections          = "/etc/NetworkManager/system-connections" // of a system
	initramfsConnections = "/run/NetworkManager/system-connections"
)

// patience is how long Script waits for interfaces by default.
const patience = 15 * time.Second

// Command returns the command that runs Script. It waits for interfaces by delay longer than the script does by itself.
func Command(connections string, delay time.Duration) string {
	words := []string{ScriptPath, Folder, connections}
	if delay > 0 {
		words = append(words, "/sys/class/net", strconv.FormatInt(int64((patience+delay)/time.Second), 10))
	}
	return strings.Join(words, " ")
}

// keyfilesScriptPath is where Script(MethodNMState) finds Script(MethodKeyfiles), for a
// system without nmstatectl.
const keyfilesScriptPath = "/usr/local/bin/pre-network-manager-config-keyfiles.sh"

//go:embed script/find.sh
var findScript []byte

//go:embed script/keyfiles.sh
var keyfilesScript []byte

//go:embed script/nmstate.sh
var nmstateScript []byte

// Script copies the settings of the host whose MAC address the machine has to NetworkManager, and fails when it
// cannot. It requires a shell, cat, chmod, mkdir, rm and sleep, and with MethodNMState nmstatectl. Its
// arguments are the folders of settings (Folder), connections (/etc/NetworkManager/system-connections) and
// interfaces (/sys/class/net), and the seconds it waits for interfaces; none are needed in a live system.
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

// Scripts returns the scripts that apply settings: Script at ScriptPath, and its fallback. An image may be of another version than its
// InfraEnv, whose system has no nmstatectl; an initramfs may lack it too.
func Scripts(how Method) []File {
	out := []File{{ScriptPath, 0o755, Script(how)}}
	if how == MethodNMState {
		out = append(out, File{keyfilesScriptPath, 0o755, Script(MethodKeyfiles)})
	}
	return out
}

// Files returns the settings of all hosts: host<N> in the order of the list, each with its connections and
// mac_interface.ini, a line MAC=name for each interface, and with MethodNMState its YAML.
func Files(hosts []Host, how Method) ([]File, error) {
	var out []File
	for i, h := range hosts {
		if h.placeholder {
			continue
		}
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
	out, err := Keyfiles(h)
	if err == nil && how == MethodNMState {
		out["network.yml"], err = NMState(h)
	}
	return out, err
}
