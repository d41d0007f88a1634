package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// changes lists the fields that differ between two specs, by their paths, without the fields of a list. Empty and missing values are equal.
func changes(before, after any, except []string) ([]string, error) {
	was, err := fields(before)
	if err != nil {
		return nil, err
	}
	is, err := fields(after)
	if err != nil {
		return nil, err
	}
	for _, name := range except {
		delete(was, name)
		delete(is, name)
	}
	return differing("spec", was, is), nil
}

func fields(spec any) (map[string]any, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode a spec: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("decode a spec: %w", err)
	}
	return out, nil
}

func differing(path string, was, is any) []string {
	before, one := was.(map[string]any)
	after, both := is.(map[string]any)
	if !one || !both {
		if reflect.DeepEqual(was, is) || empty(was) && empty(is) {
			return nil
		}
		return []string{path}
	}
	var list []string
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, differing(path+"."+name, before[name], after[name])...)
	}
	return list
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
