package cluster

import (
	"encoding/json"
	"fmt"
	"slices"

	"slipway/api/kube/resource"
)

// Fields of the install-config, and files of the folder openshift, that carry mirrors (OpenShift from 4.14 on).
const (
	digestSources = "imageDigestSources"
	trustBundle   = "additionalTrustBundle"
	tagMirrorFile = "image-tag-mirror-set.yaml"
	imageFile     = "image-config.yaml"
)

// mirrored are the mirrors of a source, as imageDigestSources and an ImageTagMirrorSet have them.
type mirrored struct {
	Mirrors []string `json:"mirrors"`
	Source  string   `json:"source"`
}

// sets returns the mirrors for images that are named by digests and by tags. Mirrors that do not say which they are for are for digests, as
// with the existing service.
func sets(m *resource.Mirrors) (digests, tags []mirrored) {
	for _, r := range m.Registries {
		byDigest, byTag := mirrored{Source: r.Source()}, mirrored{Source: r.Source()}
		for _, l := range r.Mirrors {
			if l.Digests {
				byDigest.Mirrors = append(byDigest.Mirrors, l.Location)
			}
			if l.Tags && !l.Unsaid {
				byTag.Mirrors = append(byTag.Mirrors, l.Location)
			}
		}
		if len(byDigest.Mirrors) > 0 {
			digests = append(digests, byDigest)
		}
		if len(byTag.Mirrors) > 0 {
			tags = append(tags, byTag)
		}
	}
	return digests, tags
}

// mirrorOverrides adds mirrors and their certificates to the changes of the install-config that a user asks for, which must not have them.
func mirrorOverrides(overrides string, m *resource.Mirrors) (string, error) {
	if m == nil {
		return overrides, nil
	}
	config := map[string]any{}
	if overrides != "" {
		if err := json.Unmarshal([]byte(overrides), &config); err != nil {
			return "", fmt.Errorf("read annotation %s: %w", overridesAnnotation, err)
		}
	}
	add := map[string]any{}
	if digests, _ := sets(m); len(digests) > 0 {
		add[digestSources] = digests
	}
	if m.Bundle != "" {
		add[trustBundle] = m.Bundle
	}
	for field, value := range add {
		if _, exists := config[field]; exists {
			return "", fmt.Errorf("require %s of spec.mirrorRegistryRef or of annotation %s, found both", field, overridesAnnotation)
		}
		config[field] = value
	}
	text, err := json.Marshal(config)
	return string(text), err
}

// mirrorManifests returns what the install-config has no field for: mirrors for tags, and registries without TLS.
func mirrorManifests(m *resource.Mirrors) (map[string]string, error) {
	if m == nil {
		return nil, nil
	}
	objects := map[string]any{}
	if _, tags := sets(m); len(tags) > 0 {
		objects[tagMirrorFile] = map[string]any{
			"apiVersion": "config.openshift.io/v1", "kind": "ImageTagMirrorSet", "metadata": map[string]any{"name": "slipway"},
			"spec": map[string]any{"imageTagMirrors": tags},
		}
	}
	if insecure := insecureRegistries(m); len(insecure) > 0 {
		objects[imageFile] = map[string]any{
			"apiVersion": "config.openshift.io/v1", "kind": "Image", "metadata": map[string]any{"name": "cluster"},
			"spec": map[string]any{"registrySources": map[string]any{"insecureRegistries": insecure}},
		}
	}
	files := map[string]string{}
	for name, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		files[name] = string(text) // JSON is YAML
	}
	return files, nil
}

func insecureRegistries(m *resource.Mirrors) (list []string) {
	for _, r := range m.Registries {
		if r.Insecure {
			list = append(list, r.Source())
		}
		for _, l := range r.Mirrors {
			if l.Insecure {
				list = append(list, l.Location)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
