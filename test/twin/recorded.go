package twin

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// recording is a file of testdata with cases. Its values stand in the cases as {"$": name}.
type recording struct {
	Values map[string]any   `json:"values"`
	Cases  []map[string]any `json:"cases"`
}

// readFile reads a compressed JSON file of testdata.
func readFile(name string, into any) error {
	f, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return json.NewDecoder(z).Decode(into)
}

// expand replaces {"$": name} by the value of this name.
func expand(v any, values map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["$"].(string); ok && len(v) == 1 {
			return expand(values[name], values)
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = expand(item, values)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = expand(item, values)
		}
		return out
	}
	return v
}

// fill replaces placeholders such as {cluster} in strings and keys.
func fill(v any, r *strings.Replacer) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[r.Replace(key)] = fill(item, r)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = fill(item, r)
		}
		return out
	case string:
		return r.Replace(v)
	}
	return v
}

// variant resolves {"as", "but", "without"}: the answer of the name as, with but replaced and without left out.
func variant(answers map[string]any, name string) map[string]any {
	answer, _ := answers[name].(map[string]any)
	base, ok := answer["as"].(string)
	if !ok {
		return answer
	}
	out := map[string]any{}
	for key, v := range variant(answers, base) {
		out[key] = v
	}
	but, _ := answer["but"].(map[string]any)
	for key, v := range but {
		out[key] = v
	}
	without, _ := answer["without"].([]any)
	for _, key := range without {
		delete(out, key.(string))
	}
	return out
}
