package ignition

import (
	"slices"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/hostconfig/staticnet"
)

// hasStaticNetwork reports whether the hosts bring their network settings along. Minimal
// images have them in their initramfs, before there is an Ignition config.
func (d *discovery) hasStaticNetwork() bool { return len(d.StaticNetwork) > 0 }

// NetworkScriptPath is where the script is that gives NetworkManager its settings, for
// templates.
func (d *discovery) NetworkScriptPath() string { return staticnet.ScriptPath }

// addFiles puts the settings of all hosts into a config, with what applies them. There may
// be thousands, and both Butane and a merge would take a second for them. The paths are
// ours alone.
func (d *discovery) addFiles(config []byte) ([]byte, error) {
	if !d.hasStaticNetwork() {
		return config, nil
	}
	parsed, err := document.Parse(config)
	if err != nil {
		return nil, err
	}
	for _, f := range slices.Concat(staticnet.Scripts(d.NetworkMethod), d.StaticNetwork) {
		parsed.AddFile(f.Path, f.Mode, f.Content)
	}
	return parsed.Bytes()
}
