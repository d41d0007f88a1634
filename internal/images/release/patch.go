package release

import (
	"errors"
	"fmt"
	"io/fs"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
)

// patch changes a generated manifest.
type patch struct {
	manifests.Patch
	folders []string // where its target can be; the first that has it counts
}

// oneWorkerPatch keeps two routers and so on where the installer counts one worker: control plane hosts run
// them too.
const oneWorkerPatch = `[{"op":"replace","path":"/status/infrastructureTopology","value":"HighlyAvailable"}]`

// newPatch reads a patch for the manifest its name begins with: in its own folder, or
// else in the other one.
func newPatch(folder, name string, data []byte) (patch, error) {
	parsed, err := manifests.ParsePatch(name, data)
	if err != nil {
		return patch{}, fmt.Errorf("read patch: %w", err)
	}
	folders := []string{manifests.FolderOpenShift, manifests.FolderManifests}
	if folder == manifests.FolderManifests {
		folders = []string{manifests.FolderManifests, manifests.FolderOpenShift}
	}
	return patch{parsed, folders}, nil
}

func (g *generation) apply(p patch) error {
	for _, folder := range p.folders {
		file := folder + "/" + p.Target
		data, err := g.assets.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("apply patch %s: %w", p.Name, err)
		}
		changed, err := p.Apply(data)
		if err != nil {
			return model.Invalidf("apply patch %s: %s", p.Name, err)
		}
		if err := manifests.CheckObjects(p.Target, changed); err != nil {
			return model.Invalidf("apply patch %s: %s", p.Name, err)
		}
		if err := g.assets.write(file, changed); err != nil {
			return fmt.Errorf("apply patch %s: %w", p.Name, err)
		}
		return nil
	}
	return model.Invalidf("apply patch %s: the installer made no manifest %s", p.Name, p.Target)
}
