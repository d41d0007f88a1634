package manifests

import (
	"regexp"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/useryaml"
	"slipway/internal/model"
)

// maxCopies bounds the copy operations of a patch: each can double a manifest. maxOperations bounds all of them, for each reads the
// whole manifest, and maxPatched the size of a patched manifest, in bytes.
const (
	maxCopies     = 8
	maxOperations = 1000
	maxPatched    = 16 << 20
)

// patchName splits the name of a patch: cluster-scheduler-02-config.yml.patch_mine.
var patchName = regexp.MustCompile(`^(.+\.(?:ya?ml|json))\.patch`)

// operations are the operations of RFC 6902, with the members each needs beside its path.
var operations = map[string]string{
	"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from",
}

// Patch changes a manifest by operations of RFC 6902. A part of a path may be written name=value: it then
// matches the elements of a list that have that member.
type Patch struct {
	Name       string // of the patch itself
	Target     string // name of the file that it changes
	operations jsonpatch.Patch
}

// ParsePatch reads a patch, in YAML or JSON, for the manifest that its name begins with.
// An error is a model.ErrInvalid that names the patch and the operation.
func ParsePatch(name string, content []byte) (Patch, error) {
	match := patchName.FindStringSubmatch(name)
	if match == nil {
		return Patch{}, model.Invalidf("require a patch named after a manifest (name.yaml.patch), found %q", name)
	}
	if err := useryaml.Check(content, maxExpanded); err != nil {
		return Patch{}, model.Invalidf("patch %s: %s", name, err)
	}
	var list jsonpatch.Patch
	if err := yaml.Unmarshal(content, &list); err != nil {
		return Patch{}, model.Invalidf("patch %s must be a list of operations (RFC 6902):%s", name, place(err, 1))
	}
	if len(list) == 0 || len(list) > maxOperations {
		return Patch{}, model.Invalidf("require 1 to %d operations in patch %s, found %d", maxOperations, name, len(list))
	}
	copies := 0
	for i, o := range list {
		if fault := faultOf(o); fault != "" {
			return Patch{}, model.Invalidf("patch %s, operation %d: %s", name, i+1, fault)
		}
		if o.Kind() == "copy" {
			copies++
		}
	}
	if copies > maxCopies {
		return Patch{}, model.Invalidf("require at most %d copy operations in patch %s, found %d", maxCopies, name, copies)
	}
	return Patch{Name: name, Target: match[1], operations: list}, nil
}

// faultOf returns what an operation lacks.
func faultOf(o jsonpatch.Operation) string {
	needs, known := operations[o.Kind()]
	if !known {
		return "require op add, remove, replace, move, copy or test, found \"" + o.Kind() + "\""
	}
	if path, err := o.Path(); err != nil || path != "" && !strings.HasPrefix(path, "/") {
		return "require a path that begins with a slash"
	}
	switch _, given := o[needs]; {
	case needs == "value" && !given:
		return "require a value for " + o.Kind()
	case needs == "from":
		if from, err := o.From(); err != nil || !strings.HasPrefix(from, "/") {
			return "require a from that begins with a slash for " + o.Kind()
		}
	}
	return ""
}

// Apply returns the changed manifest, in YAML.
func (p Patch) Apply(manifest []byte) ([]byte, error) {
	document, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		return nil, err
	}
	for _, o := range p.operations {
		exact, err := locate(document, o)
		if err != nil {
			return nil, err
		}
		if document, err = exact.Apply(document); err != nil {
			return nil, err
		}
		if len(document) > maxPatched {
			return nil, model.Invalidf("require a manifest of at most %d bytes after the patch, found %d", maxPatched, len(document))
		}
	}
	return yaml.JSONToYAML(document)
}
