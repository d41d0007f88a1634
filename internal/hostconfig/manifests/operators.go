package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// operatorObjects makes the objects that install the operators of a cluster.
func operatorObjects(in Input) ([]File, error) {
	made, _, err := operators.Manifests(in.Cluster, in.Hosts)
	files := make([]File, len(made))
	for i, f := range made {
		files[i] = File{Folder: FolderOpenShift, Name: f.Name, Content: f.Content}
	}
	return files, err
}

// Late is a manifest that the controller applies once the operators run
// (docs/reference/controller.md, "Late manifests"). Content is base64 in JSON.
type Late struct {
	Name    string
	Content []byte
}

// LateManifests returns the late manifests of a cluster's operators, in the order to apply them; some depend on the hosts.
func LateManifests(c *model.Cluster, hosts []*model.Host) ([]Late, error) {
	_, made, err := operators.Manifests(c, hosts)
	var late []Late
	for _, f := range made {
		late = append(late, Late(f))
	}
	return late, err
}

// LateFiles returns the forms in which late manifests are downloaded: custom_manifests.json for the controller,
// custom_manifests.yaml for people.
func LateFiles(all []Late) (asJSON, asYAML []byte, err error) {
	if all == nil {
		all = []Late{} // a list without entries, not null
	}
	if asJSON, err = json.Marshal(all); err != nil {
		return nil, nil, fmt.Errorf("write late manifests: %w", err)
	}
	var b bytes.Buffer
	for _, m := range all {
		fmt.Fprintf(&b, "---\n# %s\n%s\n", m.Name, bytes.TrimSpace(m.Content))
	}
	return asJSON, b.Bytes(), nil
}
