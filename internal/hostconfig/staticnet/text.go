package staticnet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// settle writes the tree as it is understood here, because hosts read it as well, and nmstate is stricter than the readers here: a key
// without a value is left out, and text has to be written as text. "1.10" without quotes is a number, and another name.
func settle(tree any, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch node := tree.(type) {
	case []any:
		for i, item := range node {
			if t.Kind() != reflect.Slice {
				return nil // told as another kind of value
			}
			if err := settle(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return settleMap(node, t, path)
	case json.Number, bool:
		if t.Kind() == reflect.String {
			return fmt.Errorf("%s: require text, found %v, which has to be in quotes", path, node)
		}
	}
	return nil
}

func settleMap(node map[string]any, t reflect.Type, path string) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		value, found := node[name]
		if !found {
			continue
		}
		if value == nil {
			delete(node, name)
			continue
		}
		if err := settle(value, t.Field(i).Type, strings.TrimPrefix(path+"."+name, ".")); err != nil {
			return err
		}
	}
	return nil
}
