package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// maxCopies bounds the copy operations of a patch: each can double a manifest.
const maxCopies = 8

// patch changes a generated manifest by operations of RFC 6902.
type patch struct {
	name       string // of the patch itself, for errors
	folders    []string
	target     string // file name
	operations jsonpatch.Patch
}

// oneWorkerPatch keeps two routers and the like where the installer counts one worker:
// control plane hosts run them too.
var oneWorkerPatch = patch{
	name:    "infrastructure topology",
	folders: []string{"manifests"},
	target:  "cluster-infrastructure-02-config.yml",
	operations: jsonpatch.Patch{{
		"op": raw(`"replace"`), "path": raw(`"/status/infrastructureTopology"`), "value": raw(`"HighlyAvailable"`),
	}},
}

func raw(text string) *json.RawMessage {
	m := json.RawMessage(text)
	return &m
}

// newPatch reads a patch, written in YAML or JSON, for the manifest its name begins
// with: in its own folder, or else in the other one.
func newPatch(folder, name string, data []byte) (patch, error) {
	match := patchName.FindStringSubmatch(name)
	if match == nil {
		return patch{}, model.Invalidf("require a patch named after a manifest (name.yaml.patch), found %q", name)
	}
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return patch{}, model.Invalidf("read patch %s: %s", name, err)
	}
	operations, err := jsonpatch.DecodePatch(asJSON)
	if err != nil {
		return patch{}, model.Invalidf("read patch %s: require a list of operations (RFC 6902): %s", name, err)
	}
	if copies := slices.IndexFunc(operations, nthCopy(maxCopies+1)); copies >= 0 {
		return patch{}, model.Invalidf("read patch %s: require at most %d copy operations", name, maxCopies)
	}
	folders := []string{"openshift", "manifests"}
	if folder == "manifests" {
		folders = []string{"manifests", "openshift"}
	}
	return patch{name: name, folders: folders, target: match[1], operations: operations}, nil
}

// nthCopy is true for the nth copy operation it is given.
func nthCopy(n int) func(jsonpatch.Operation) bool {
	return func(o jsonpatch.Operation) bool {
		if o.Kind() == "copy" {
			n--
		}
		return n == 0
	}
}

func (g *generation) apply(p patch) error {
	for _, folder := range p.folders {
		file := g.assets(folder + "/" + p.target)
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("apply patch %s: %w", p.name, err)
		}
		changed, err := p.apply(data)
		if err != nil {
			return model.Invalidf("apply patch %s: %s", p.name, err)
		}
		if err := os.WriteFile(file, changed, 0o600); err != nil {
			return fmt.Errorf("apply patch %s: %w", p.name, err)
		}
		return nil
	}
	return model.Invalidf("apply patch %s: the installer made no manifest %s", p.name, p.target)
}

func (p patch) apply(manifest []byte) ([]byte, error) {
	asJSON, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		return nil, err
	}
	changed, err := p.operations.Apply(asJSON)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(changed)
}
