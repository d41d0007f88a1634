package ignition

import (
	"slices"
	"time"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/hostconfig/staticnet"
)

// hasStaticNetwork reports whether the config contains the hosts' network settings. Minimal images have them in
// their initramfs, before an Ignition config is read.
func (d *discovery) hasStaticNetwork() bool { return len(d.StaticNetwork) > 0 }

// NetworkCommand returns the command that copies the settings to NetworkManager, for templates.
func (d *discovery) NetworkCommand() string {
	if d.DelaySeconds == 0 {
		return staticnet.ScriptPath
	}
	return staticnet.Command(staticnet.Connections, time.Duration(d.DelaySeconds)*time.Second)
}

// addFiles adds the settings of all hosts to a config, with the script that applies them. There may be
// thousands, and both Butane and a merge would take a second for them. No other part uses these paths.
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
