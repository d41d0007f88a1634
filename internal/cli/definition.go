package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// define reads a file of fields of the API, JSON or YAML, merges others over it, the last one on top, and
// returns the API's parameters. A field the API does not have is an error.
func define[P any](file []byte, over ...any) (P, error) {
	var params P
	fields := map[string]json.RawMessage{}
	if err := yaml.Unmarshal(file, &fields); err != nil {
		return params, usagef("read the definition: require fields as JSON or YAML: %w", err)
	}
	for _, o := range over {
		text, err := json.Marshal(o)
		if err == nil {
			err = json.Unmarshal(text, &fields)
		}
		if err != nil {
			return params, fmt.Errorf("merge flags over the definition: %w", err)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return params, fmt.Errorf("merge flags over the definition: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&params); err != nil {
		return params, usagef("read the definition: %w", err)
	}
	return params, nil
}
