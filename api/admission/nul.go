package admission

import (
	"cmp"
	"fmt"
	"strings"

	"slipway/internal/model"
)

// refuseNUL refuses text with a NUL character, which the database cannot keep. Nothing a
// person types has one.
func refuseNUL(field string, tree any) error {
	switch node := tree.(type) {
	case string:
		if strings.ContainsRune(node, 0) {
			return model.Invalidf("%s: must not contain NUL characters", cmp.Or(field, "body"))
		}
	case map[string]any:
		for key, value := range node {
			if err := refuseNUL(strings.TrimPrefix(field+"."+key, "."), value); err != nil {
				return err
			}
			if err := refuseNUL(field, key); err != nil {
				return err
			}
		}
	case []any:
		for i, value := range node {
			if err := refuseNUL(strings.TrimPrefix(fmt.Sprintf("%s.%d", field, i), "."), value); err != nil {
				return err
			}
		}
	}
	return nil
}
