package admission

import (
	"encoding/json"
	"fmt"
)

// takesAnybody has the served document say that credentials may be left out, as they
// may where the service takes everybody. Clients and their generators go by it.
func (d *Document) takesAnybody() error {
	var tree map[string]any
	if err := json.Unmarshal(d.served, &tree); err != nil {
		return fmt.Errorf("read the API document: %w", err)
	}
	optional(tree)
	paths, _ := tree["paths"].(map[string]any)
	for _, item := range paths {
		operations, _ := item.(map[string]any)
		for _, operation := range operations {
			if o, ok := operation.(map[string]any); ok {
				optional(o)
			}
		}
	}
	var err error
	if d.served, err = json.Marshal(tree); err != nil {
		return fmt.Errorf("write the API document: %w", err)
	}
	return nil
}

// optional adds the empty requirement to the list of an operation, or of all.
func optional(node map[string]any) {
	if list, ok := node["security"].([]any); ok && len(list) > 0 {
		node["security"] = append(list, map[string]any{})
	}
}
