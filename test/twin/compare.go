package twin

import (
	"encoding/json"
	"fmt"
	"sort"
)

// absent is the value of a path that one side does not have.
const absent = "(absent)"

// outcome is a case that was played: what was recorded and what Slipway answered, flat.
type outcome struct {
	file, name string
	requests   []any // as recorded
	hosts      []any // as recorded
	want, got  map[string]string
}

// difference is a fact that both services answer differently.
type difference struct {
	path, want, got string
}

func (d difference) String() string {
	return fmt.Sprintf("%s: recorded %s, Slipway %s", d.path, d.want, d.got)
}

// differences returns them sorted by path.
func (o outcome) differences() []difference {
	var out []difference
	for path, want := range o.want {
		got, ok := o.got[path]
		if !ok {
			got = absent
		}
		if want != got {
			out = append(out, difference{path, want, got})
		}
	}
	for path, got := range o.got {
		if _, ok := o.want[path]; !ok {
			out = append(out, difference{path, absent, got})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}

// flatten gives each value its path. A list without objects is one value.
func flatten(v any) map[string]string {
	out := map[string]string{}
	flattenInto(out, "", v)
	return out
}

func flattenInto(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			out[path] = "{}"
		}
		for key, item := range v {
			flattenInto(out, path+"/"+key, item)
		}
		return
	case []any:
		if nested(v) {
			for i, item := range v {
				flattenInto(out, fmt.Sprintf("%s/%d", path, i), item)
			}
			return
		}
	}
	text, _ := json.Marshal(v) // it was decoded from JSON
	out[path] = string(text)
}

func nested(list []any) bool {
	for _, item := range list {
		switch item.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}
