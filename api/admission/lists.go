package admission

import (
	"cmp"
	"fmt"
	"strings"

	"slipway/internal/model"
)

// maxItems bounds the lists of a body: far more than the largest cluster needs, and few
// enough to compare each item with all others.
const maxItems = 10000

// refuseLong refuses a list that is longer than any that makes sense.
func refuseLong(field string, tree any) error {
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			if err := refuseLong(strings.TrimPrefix(field+"."+key, "."), value); err != nil {
				return err
			}
		}
	case []any:
		if len(node) > maxItems {
			return model.Invalidf("%s: require at most %d items, found %d", cmp.Or(field, "body"), maxItems, len(node))
		}
		for i, value := range node {
			if err := refuseLong(fmt.Sprintf("%s.%d", field, i), value); err != nil {
				return err
			}
		}
	}
	return nil
}
