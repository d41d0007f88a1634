package manifests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// maxPlaces bounds the places that one operation changes.
const maxPlaces = 100

// locate makes an operation exact: one for each place that its path matches in document.
func locate(document []byte, o jsonpatch.Operation) (jsonpatch.Patch, error) {
	path, err := o.Path()
	if err != nil {
		return nil, err
	}
	from := ""
	if operations[o.Kind()] == "from" {
		if from, err = o.From(); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(path+from, "=") {
		return jsonpatch.Patch{o}, nil
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, err
	}
	paths, err := pointers(value, path)
	if err != nil {
		return nil, err
	}
	exact := jsonpatch.Operation{}
	for name, member := range o {
		exact[name] = member
	}
	if from != "" {
		sources, err := pointers(value, from)
		if err != nil {
			return nil, err
		}
		if len(sources) != 1 {
			return nil, fmt.Errorf("require one place that %q means, found %d", from, len(sources))
		}
		exact["from"] = rawText(sources[0])
	}
	if len(paths) > maxPlaces || from != "" && len(paths) > 1 {
		return nil, fmt.Errorf(
			"require a path that means at most %d places, or one to move or copy to, found %d: %s",
			maxPlaces,
			len(paths),
			path,
		)
	}
	// From the end: a removal or addition moves only the elements after it.
	slices.Reverse(paths)
	all := make(jsonpatch.Patch, 0, len(paths))
	for _, p := range paths {
		one := jsonpatch.Operation{}
		for name, member := range exact {
			one[name] = member
		}
		one["path"] = rawText(p)
		all = append(all, one)
	}
	return all, nil
}

func rawText(text string) *json.RawMessage {
	data, _ := json.Marshal(text) // a string always marshals
	raw := json.RawMessage(data)
	return &raw
}

// pointers returns the JSON pointers (RFC 6901) that a path matches, at least one. A token name=value matches
// the elements of a list that have it.
func pointers(value any, path string) ([]string, error) {
	type place struct {
		pointer string
		value   any
	}
	places := []place{{"", value}}
	for token := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		var next []place
		for _, at := range places {
			switch v := at.value.(type) {
			case map[string]any:
				next = append(next, place{at.pointer + "/" + token, v[unescape(token)]})
			case []any:
				name, wanted, selects := strings.Cut(unescape(token), "=")
				if !selects {
					next = append(next, place{at.pointer + "/" + token, element(v, token)})
					continue
				}
				for i, e := range v {
					if object, ok := e.(map[string]any); ok && fmt.Sprint(object[name]) == wanted {
						next = append(next, place{at.pointer + "/" + strconv.Itoa(i), e})
					}
				}
			default: // the operation itself reports a missing element
				next = append(next, place{at.pointer + "/" + token, nil})
			}
		}
		if len(next) == 0 {
			return nil, fmt.Errorf("no element with %s below %s", token, path)
		}
		places = next
	}
	found := make([]string, len(places))
	for i, p := range places {
		found[i] = p.pointer
	}
	return found, nil
}

func unescape(token string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(token) }

func element(list []any, token string) any {
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}
