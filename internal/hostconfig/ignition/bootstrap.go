package ignition

import (
	"fmt"
	"regexp"
	"strings"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// connections is where NetworkManager keeps its keyfiles.
const connections = "/etc/NetworkManager/system-connections/"

// BootstrapInput is the input of the bootstrap config.
type BootstrapInput struct {
	Config     []byte // bootstrap.ign of the installer, several megabytes
	Hosts      []*model.Host
	SingleNode bool
}

// Bootstrap changes the installer's bootstrap config for a bootstrap host that runs from
// a discovery image and becomes a node itself (docs/reference/ignition.md, "Bootstrap
// config").
func Bootstrap(in BootstrapInput) ([]byte, error) {
	d, err := document.Parse(in.Config)
	if err != nil {
		return nil, fmt.Errorf("read bootstrap config: %w", err)
	}
	// The discovery image has its network already; the installer's is for a machine of its own.
	d.RemoveFiles(func(f *document.File) bool {
		return strings.HasPrefix(f.Path, connections) && strings.HasSuffix(f.Path, "nmconnection")
	})
	for _, f := range d.Files() {
		if err := editBootstrapFile(f, in.Hosts); err != nil {
			return nil, fmt.Errorf("edit bootstrap config: %w", err)
		}
	}
	config, err := d.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write bootstrap config: %w", err)
	}
	if in.SingleNode {
		return config, document.Check(config)
	}
	ours, err := render(nil, "bootstrap")
	if err != nil {
		return nil, fmt.Errorf("build bootstrap config: %w", err)
	}
	merged, err := document.Merge(config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge bootstrap config: %w", err)
	}
	return merged, nil
}

// bareMetalHostFile is the manifest of a BareMetalHost. Hosts of arbiters have names of their own
// (openshift/installer, pkg/asset/machines/arbiter.go).
var bareMetalHostFile = regexp.MustCompile(`openshift-cluster-api_(arbiter[_-])?hosts-[0-9]+\.yaml$`)

func editBootstrapFile(f *document.File, hosts []*model.Host) error {
	switch {
	case f.Path == "/etc/motd":
		// The machine config daemon applies this config and does not support additions to files.
		return f.Overwrite()
	case bareMetalHostFile.MatchString(f.Path):
		manifest, err := f.Content()
		if err != nil {
			return err
		}
		described, err := describeBareMetalHost(manifest, hosts)
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Path, err)
		}
		f.SetContent(described)
	}
	return nil
}
