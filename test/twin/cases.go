package twin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"

	"sigs.k8s.io/yaml"
)

// playSettled plays a case of verdicts.json or install-config.json.
func playSettled(s service, file string, c map[string]any) (outcome, error) {
	hosts, _ := c["hosts"].([]any)
	requests := c["requests"].([]any)
	p := newPlayer(s, hosts)
	defer p.clear()
	p.facts = p.verdicts
	if file == "install-config" {
		p.facts = p.installConfig
	}
	out := outcome{file: file, name: c["name"].(string), requests: requests, hosts: hosts}
	wantCodes, gotCodes := map[string]string{}, map[string]string{}
	var facts any
	for i, item := range requests {
		request, ok := item.([]any)
		if !ok {
			var err error
			if facts, err = p.settle(); err != nil {
				return out, fmt.Errorf("%s: %w", out.name, err)
			}
			continue
		}
		code, err := p.send(request)
		if err != nil {
			return out, err
		}
		path := fmt.Sprintf("/requests/%d", i)
		wantCodes[path], gotCodes[path] = class(int(request[3].(float64))), class(code)
	}
	out.want, out.got = flatten(fill(c["facts"], p.fills())), flatten(facts)
	for path := range wantCodes {
		out.want[path], out.got[path] = wantCodes[path], gotCodes[path]
	}
	return out, nil
}

// class returns a status code as clients see it: every recorded refusal is a 400, another code is a difference.
func class(code int) string {
	switch {
	case taken(code):
		return "accepted"
	case code == http.StatusBadRequest:
		return "refused"
	}
	return fmt.Sprint(code)
}

// verdicts reads the facts of verdicts.json.
func (p *player) verdicts() (any, error) {
	_, answer, err := p.call("GET", "/v2/clusters/"+p.cluster, nil)
	if err != nil {
		return nil, err
	}
	cluster, _ := answer.(map[string]any)
	machine := []any{}
	for _, network := range list(cluster["machine_networks"]) {
		machine = append(machine, network.(map[string]any)["cidr"])
	}
	operators := []string{}
	for _, item := range list(cluster["monitored_operators"]) {
		if operator := item.(map[string]any); operator["operator_type"] == "olm" {
			operators = append(operators, operator["name"].(string))
		}
	}
	facts := map[string]any{"cluster": map[string]any{
		"status": cluster["status"], "machine_networks": machine, "operators": sorted(operators),
		"validations": validations(cluster["validations_info"]),
	}}
	byID := map[string]map[string]any{}
	for _, item := range list(cluster["hosts"]) {
		host := item.(map[string]any)
		byID[host["id"].(string)] = host
	}
	hosts := []any{}
	for _, id := range p.ids {
		hosts = append(hosts, hostFacts(byID[id]))
	}
	facts["hosts"] = hosts
	return facts, nil
}

func hostFacts(host map[string]any) map[string]any {
	text := func(key string) string { s, _ := host[key].(string); return s }
	bootstrap, _ := host["bootstrap"].(bool)
	return map[string]any{
		"status": host["status"], "role": host["role"], "suggested_role": text("suggested_role"), "bootstrap": bootstrap,
		"installation_disk_id": text("installation_disk_id"), "eligible_disks": eligible(text("inventory")),
		"validations": validations(host["validations_info"]),
	}
}

func eligible(inventory string) []any {
	var in struct {
		Disks []struct {
			ID          string `json:"id"`
			Eligibility struct {
				Eligible bool `json:"eligible"`
			} `json:"installation_eligibility"`
		} `json:"disks"`
	}
	_ = json.Unmarshal([]byte(inventory), &in) // a host without inventory has no disks
	var ids []string
	for _, disk := range in.Disks {
		if disk.Eligibility.Eligible {
			ids = append(ids, disk.ID)
		}
	}
	return sorted(ids)
}

// validations reads the field validations_info: id to status.
func validations(info any) map[string]any {
	text, _ := info.(string)
	groups := map[string][]struct{ ID, Status string }{}
	_ = json.Unmarshal([]byte(text), &groups)
	out := map[string]any{}
	for _, group := range groups {
		for _, v := range group {
			out[v.ID] = v.Status
		}
	}
	return out
}

// installConfig reads the facts of install-config.json.
func (p *player) installConfig() (any, error) {
	code, answer, err := p.call("GET", "/v2/clusters/"+p.cluster+"/install-config", nil)
	facts := map[string]any{"install_config_code": float64(code)}
	text, ok := answer.(string)
	if err != nil || !taken(code) || !ok {
		return facts, err
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("read the install-config: %w", err)
	}
	sortBy(at(config, "platform", "baremetal", "hosts"), "bootMACAddress")
	sortBy(at(config, "controlPlane", "fencing", "credentials"), "hostName")
	facts["install_config"] = config
	return facts, nil
}

func at(v any, path ...string) []any {
	for _, key := range path {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return list(v)
}

func sortBy(items []any, key string) {
	sort.SliceStable(items, func(i, j int) bool {
		return fmt.Sprint(items[i].(map[string]any)[key]) < fmt.Sprint(items[j].(map[string]any)[key])
	})
}

func list(v any) []any { items, _ := v.([]any); return items }

func sorted(names []string) []any {
	slices.Sort(names)
	out := []any{}
	for _, name := range names {
		out = append(out, name)
	}
	return out
}

// playRefusals plays a case of refusals.json, up to the first answer of another class.
func playRefusals(s service, c map[string]any) (outcome, error) {
	p := newPlayer(s, nil)
	defer p.clear()
	out := outcome{
		file: "refusals", name: c["name"].(string), requests: c["requests"].([]any),
		want: map[string]string{}, got: map[string]string{},
	}
	for i, item := range out.requests {
		request := item.([]any)
		path := fmt.Sprintf("/requests/%d", i)
		code, err := p.send(request)
		if err != nil {
			return out, err
		}
		out.want[path], out.got[path] = request[4].(string), class(code)
		if code == 0 {
			out.got[path] = "not sent"
		}
		if out.want[path] != out.got[path] {
			break
		}
	}
	return out, nil
}
