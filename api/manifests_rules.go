package api

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// maxManifest bounds the content of a manifest, in bytes (contract/ignition.md, 5d).
const maxManifest = 1 << 20

// manifestName is a file the installer takes: YAML, JSON, or a patch of one.
var manifestName = regexp.MustCompile(`\.(json|ya?ml(\.patch_?[a-zA-Z0-9_]*)?)$`)

func checkManifestName(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`):
		return model.Unprocessablef("file_name: require a name without a path, found %q", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return model.Unprocessablef("file_name: require a name without spaces, found %q", name)
	case strings.HasPrefix(name, "."):
		return model.Unprocessablef("file_name: require a name that does not begin with a dot, found %q", name)
	case len(name) > 200 || !manifestName.MatchString(name):
		return model.Unprocessablef("file_name: require a name of at most 200 characters that ends in .yaml, .yml, .json or a patch of these, found %q", name)
	}
	return nil
}

// manifestContent decodes the content of a manifest and checks that it can be read.
func manifestContent(name, text string) ([]byte, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, model.Invalidf("content: require base64, found something else")
	}
	if len(content) == 0 || len(content) > maxManifest {
		return nil, model.Invalidf("content: require 1 to %d bytes, found %d", maxManifest, len(content))
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		var any any
		if err == nil {
			err = yaml.Unmarshal(document, &any) // JSON is YAML
		}
		if err != nil {
			return nil, model.Invalidf("content: require YAML or JSON in %s, found a fault in document %d", name, n)
		}
	}
}

func manifestKey(folder, name string) string { return "manifests/" + folder + "/" + name }
