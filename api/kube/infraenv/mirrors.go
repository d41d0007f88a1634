package infraenv

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"slipway/api/kube/resource"
)

// Files of the discovery image with the mirrors, where the service has its own (internal/hostconfig/ignition/templates/mirror.bu).
const (
	registriesConfPath = "/etc/containers/registries.conf"
	mirrorBundlePath   = "/etc/pki/ca-trust/source/anchors/domain.crt"
)

// ignitionFile is a file of an Ignition config (https://coreos.github.io/ignition/configuration-v3_1/).
type ignitionFile struct {
	Path      string `json:"path"`
	Mode      int    `json:"mode"`
	Overwrite bool   `json:"overwrite"`
	Contents  struct {
		Source string `json:"source"`
	} `json:"contents"`
}

// withMirrors adds the files of mirrors to spec.ignitionConfigOverride, which must not have them.
func withMirrors(override string, m *resource.Mirrors) (string, error) {
	if m == nil {
		return override, nil
	}
	config := map[string]any{"ignition": map[string]any{"version": "3.1.0"}}
	if override != "" {
		if err := json.Unmarshal([]byte(override), &config); err != nil {
			return "", fmt.Errorf("read spec.ignitionConfigOverride: %w", err)
		}
	}
	storage, isObject := config["storage"].(map[string]any)
	if config["storage"] != nil && !isObject {
		return "", fmt.Errorf("spec.ignitionConfigOverride: require an object as storage, found %v", config["storage"])
	}
	files, isList := storage["files"].([]any)
	if storage["files"] != nil && !isList {
		return "", fmt.Errorf("spec.ignitionConfigOverride: require a list as storage.files, found %v", storage["files"])
	}
	for _, f := range []struct{ path, content string }{{registriesConfPath, m.RegistriesConf}, {mirrorBundlePath, m.Bundle}} {
		if f.content == "" {
			continue
		}
		for _, other := range files {
			if of, is := other.(map[string]any); is && of["path"] == f.path {
				return "", fmt.Errorf("require %s of spec.mirrorRegistryRef or of spec.ignitionConfigOverride, found both", f.path)
			}
		}
		file := ignitionFile{Path: f.path, Mode: 0o644, Overwrite: true}
		file.Contents.Source = "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(f.content))
		files = append(files, file)
	}
	if storage == nil {
		storage = map[string]any{}
	}
	storage["files"], config["storage"] = files, storage
	text, err := json.Marshal(config)
	return string(text), err
}
