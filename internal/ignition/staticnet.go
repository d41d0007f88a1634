package ignition

import "slipway/internal/staticnet"

// hasStaticNetwork reports whether the hosts bring their network settings along. Minimal
// images have them in their initramfs, before there is an Ignition config.
func (d *discovery) hasStaticNetwork() bool { return len(d.StaticNetwork) > 0 }

// NetworkScript is the script that gives NetworkManager its settings, for templates.
func (d *discovery) NetworkScript() string { return string(staticnet.Script(d.NetworkMethod)) }

// NetworkScriptPath is where it is.
func (d *discovery) NetworkScriptPath() string { return staticnet.ScriptPath }

// networkFile is a file of the static network settings, for templates.
type networkFile struct{ Path, Content string }

func networkFiles(files []staticnet.File) []networkFile {
	out := make([]networkFile, len(files))
	for i, f := range files {
		out[i] = networkFile{f.Path, string(f.Content)}
	}
	return out
}
