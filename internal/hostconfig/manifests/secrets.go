package manifests

import (
	"bytes"

	"sigs.k8s.io/yaml"
)

// kindSecret is the kind of objects whose data is secret.
const kindSecret = "Secret"

// HoldsSecret reports whether a document of a manifest is a Secret, or a list with one. Patches, and files that cannot be read,
// count by the word.
func HoldsSecret(name string, content []byte) bool {
	documents, err := Documents(name, content)
	if err != nil || IsPatch(name) {
		return bytes.Contains(content, []byte(kindSecret))
	}
	for _, d := range documents {
		var o object
		if yaml.Unmarshal(d, &o) == nil && o.holdsSecret() {
			return true
		}
	}
	return false
}

// object is the part of a Kubernetes object that identifies it.
type object struct {
	Kind  string   `json:"kind"`
	Items []object `json:"items"`
}

func (o object) holdsSecret() bool {
	if o.Kind == kindSecret {
		return true
	}
	for _, item := range o.Items {
		if item.holdsSecret() {
			return true
		}
	}
	return false
}
