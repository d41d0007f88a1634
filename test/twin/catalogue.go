package twin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
)

// catalogue is the file of that name.
type catalogue struct {
	Operators         []string                  `json:"supported_operators"`
	Properties        map[string]map[string]any `json:"operator_properties"`
	Bundles           answers                   `json:"bundles"`
	BundleCodes       map[string]float64        `json:"bundle_codes"`
	Architectures     map[string]any            `json:"architectures"`
	Versions          map[string]any            `json:"openshift_versions"`
	Incompatibilities answers                   `json:"incompatibilities"`
	OCP               map[string]any            `json:"preflight_ocp"`
	Requirements      map[string]any            `json:"preflight_requirements"`
	Preflight         [][2]map[string]any       `json:"preflight"`
}

type answers struct {
	Answers map[string]any `json:"answers"`
	ByQuery map[string]any `json:"by_query"`
}

// question is one recorded answer: how it is asked for, and how it reads.
type question struct {
	name string
	want any
	got  func() (any, error)
}

// questions lists all answers of the catalogue, in a fixed order.
func (c catalogue) questions(s service) []question {
	out := []question{{"supported_operators", sorted(slices.Clone(c.Operators)), func() (any, error) {
		_, answer, err := s.call("GET", "/v2/supported-operators", nil)
		return names(answer), err
	}}}
	for _, name := range slices.Sorted(maps.Keys(c.Properties)) {
		out = append(out, question{"operator_properties " + name, c.Properties[name], func() (any, error) {
			code, answer, err := s.call("GET", "/v2/supported-operators/"+url.PathEscape(name), nil)
			got := map[string]any{"code": float64(code)}
			if taken(code) {
				got["properties"] = answer
			}
			return got, err
		}})
	}
	out = append(out, s.queries("bundles", "/v2/operators/bundles", c.Bundles, bundles)...)
	for _, id := range slices.Sorted(maps.Keys(c.BundleCodes)) {
		out = append(out, question{"bundle_codes " + id, c.BundleCodes[id], func() (any, error) {
			code, _, err := s.call("GET", "/v2/operators/bundles/"+url.PathEscape(id), nil)
			return float64(code), err
		}})
	}
	for _, version := range slices.Sorted(maps.Keys(c.Architectures)) {
		out = append(out, question{"architectures " + version, c.Architectures[version], func() (any, error) {
			code, answer, err := s.call("GET", "/v2/support-levels/architectures?openshift_version="+version, nil)
			return field(code, answer, "architectures"), err
		}})
	}
	for _, query := range slices.Sorted(maps.Keys(c.Versions)) {
		out = append(out, question{"openshift_versions " + query, c.Versions[query], func() (any, error) {
			code, answer, err := s.call("GET", "/v2/openshift-versions?"+query, nil)
			return versions(code, answer), err
		}})
	}
	out = append(out, s.queries("incompatibilities", "/v2/support-levels/features/detailed", c.Incompatibilities, incompatibilities)...)
	for _, row := range c.Preflight {
		fields, _ := json.Marshal(row[0])
		out = append(out, question{"preflight " + string(fields), c.preflightWant(row[1]), func() (any, error) { return s.preflight(row[0]) }})
	}
	return out
}

// queries lists the questions of one path by query; an answer is named, or a code.
func (s service) queries(name, path string, a answers, read func(any) any) []question {
	var out []question
	for _, query := range slices.Sorted(maps.Keys(a.ByQuery)) {
		want := a.ByQuery[query]
		if name, ok := want.(string); ok {
			want = any(variant(a.Answers, name))
		}
		out = append(out, question{name + " " + query, want, func() (any, error) {
			code, answer, err := s.call("GET", path+"?"+query, nil)
			if !taken(code) {
				return float64(code), err
			}
			return read(answer), err
		}})
	}
	return out
}

func names(v any) []any {
	var out []string
	for _, item := range list(v) {
		out = append(out, fmt.Sprint(item))
	}
	return sorted(out)
}

func bundles(answer any) any {
	out := map[string]any{}
	for _, item := range list(answer) {
		bundle := item.(map[string]any)
		row := map[string]any{"operators": names(bundle["operators"])}
		if optional := names(bundle["optional_operators"]); len(optional) > 0 {
			row["optional_operators"] = optional
		}
		out[bundle["id"].(string)] = row
	}
	return out
}

func incompatibilities(answer any) any {
	object, _ := answer.(map[string]any)
	out := map[string]any{}
	for _, item := range list(object["features"]) {
		feature := item.(map[string]any)
		out[feature["feature-support-level-id"].(string)] = names(feature["incompatibilities"])
	}
	return out
}

func versions(code int, answer any) any {
	if !taken(code) {
		return float64(code)
	}
	out := map[string]any{}
	object, _ := answer.(map[string]any)
	for version, item := range object {
		row := maps.Clone(item.(map[string]any))
		delete(row, "display_name")
		row["cpu_architectures"] = names(row["cpu_architectures"])
		out[version] = row
	}
	return out
}

func field(code int, answer any, key string) any {
	if object, ok := answer.(map[string]any); ok && taken(code) {
		return object[key]
	}
	return float64(code)
}

func (c catalogue) preflightWant(row map[string]any) map[string]any {
	want := maps.Clone(row)
	if name, ok := row["ocp"].(string); ok {
		want["ocp"] = variant(c.OCP, name)
	}
	if name, ok := row["requirements"].(string); ok {
		want["requirements"] = variant(c.Requirements, name)
	}
	return want
}

// preflight creates a cluster with the fields and reads its preflight requirements.
func (s service) preflight(fields map[string]any) (any, error) {
	body := map[string]any{
		"name": "twin", "openshift_version": "4.20", "base_dns_domain": "example.com", "pull_secret": pullSecret,
		"control_plane_count": 3,
	}
	maps.Copy(body, fields)
	code, answer, err := s.call("POST", "/v2/clusters", body)
	if err != nil || !taken(code) {
		return map[string]any{"create": float64(code)}, err
	}
	cluster := answer.(map[string]any)
	path := "/v2/clusters/" + cluster["id"].(string)
	defer func() { _, _, _ = s.call("DELETE", path, nil) }()
	var operators []string
	for _, item := range list(cluster["monitored_operators"]) {
		if operator := item.(map[string]any); operator["operator_type"] == "olm" {
			operators = append(operators, operator["name"].(string))
		}
	}
	created := float64(code)
	code, answer, err = s.call("GET", path+"/preflight-requirements", nil)
	object, _ := answer.(map[string]any)
	requirements := map[string]any{}
	for _, item := range list(object["operators"]) {
		operator := item.(map[string]any)
		row := roles(operator["requirements"])
		row["dependencies"] = names(operator["dependencies"])
		requirements[operator["operator_name"].(string)] = row
	}
	return map[string]any{
		"create": created, "code": float64(code), "operators": sorted(operators), "ocp": roles(object["ocp"]), "requirements": requirements,
	}, err
}

// roles returns the numbers by role.
func roles(v any) map[string]any {
	object, _ := v.(map[string]any)
	out := map[string]any{}
	for role, item := range object {
		out[role] = item.(map[string]any)["quantitative"]
	}
	return out
}
