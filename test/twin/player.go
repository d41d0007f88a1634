package twin

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	pause    = 700 * time.Millisecond // between two rounds of a host's questions
	looks    = 3                      // at the same facts before they are taken as settled
	mostLook = 60
)

// player plays one case with clusters, InfraEnvs and hosts of its own.
type player struct {
	service
	cluster, env string
	ids          []string // of the hosts, by index
	hosts        []any    // as recorded
	facts        func() (any, error)
}

func newPlayer(s service, hosts []any) *player {
	p := &player{service: s, hosts: hosts}
	for range hosts {
		p.ids = append(p.ids, uuid.NewString())
	}
	return p
}

// fills replaces the placeholders that are known by now.
func (p *player) fills() *strings.Replacer {
	pairs := []string{"{pull_secret}", pullSecret, "{agent}", agentImage, "{release_host}", "quay.io"}
	for i, id := range p.ids {
		pairs = append(pairs, fmt.Sprintf("{host%d}", i), id)
	}
	if p.cluster != "" {
		pairs = append(pairs, "{cluster}", p.cluster)
	}
	if p.env != "" {
		pairs = append(pairs, "{infra_env}", p.env)
	}
	return strings.NewReplacer(pairs...)
}

// send sends a recorded request. The code is 0 when an id of its path does not exist.
func (p *player) send(request []any) (int, error) {
	filled := fill(request[:3], p.fills()).([]any)
	path := filled[1].(string)
	if strings.Contains(path, "{") {
		return 0, nil
	}
	code, answer, err := p.call(filled[0].(string), path, filled[2])
	object, _ := answer.(map[string]any)
	if id, _ := object["id"].(string); err == nil && taken(code) {
		switch request[1] {
		case "/v2/clusters":
			p.cluster = id
		case "/v2/infra-envs":
			p.env = id
		}
	}
	return code, err
}

// clear deletes what the case created.
func (p *player) clear() {
	for _, path := range []string{"/v2/infra-envs/" + p.env + "/hosts/", "/v2/infra-envs/", "/v2/clusters/"} {
		switch {
		case strings.HasSuffix(path, "/hosts/") && p.env != "":
			for _, id := range p.ids {
				_, _, _ = p.call("DELETE", path+id, nil)
			}
		case path == "/v2/infra-envs/" && p.env != "":
			_, _, _ = p.call("DELETE", path+p.env, nil)
		case path == "/v2/clusters/" && p.cluster != "":
			_, _, _ = p.call("DELETE", path+p.cluster, nil)
		}
	}
}

// settle answers the questions of the service until the facts stay the same.
func (p *player) settle() (any, error) {
	var before string
	same := 0
	for look := range mostLook {
		for i := range p.hosts {
			if err := p.ask(i); err != nil {
				return nil, err
			}
		}
		time.Sleep(pause)
		if look+1 < looks {
			continue
		}
		facts, err := p.facts()
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(facts)
		if same++; string(text) != before {
			same, before = 1, string(text)
		}
		if same == looks {
			return facts, nil
		}
	}
	return nil, fmt.Errorf("the facts do not settle")
}

// ask asks for the steps of a host and answers those that have a recorded reply.
func (p *player) ask(index int) error {
	host := p.hosts[index].(map[string]any)
	if host["silent"] == true {
		return nil
	}
	skew, _ := host["skew"].(float64)
	path := fmt.Sprintf("/v2/infra-envs/%s/hosts/%s/instructions", p.env, p.ids[index])
	_, answer, err := p.call("GET", fmt.Sprintf("%s?timestamp=%d", path, time.Now().Unix()+int64(skew)), nil)
	if err != nil {
		return err
	}
	object, _ := answer.(map[string]any)
	steps, _ := object["instructions"].([]any)
	replies, _ := host["replies"].(map[string]any)
	for _, item := range steps {
		step := item.(map[string]any)
		reply, ok := replies[step["step_type"].(string)].([]any)
		if !ok {
			continue
		}
		if _, _, err := p.call("POST", path, p.reply(step, reply)); err != nil {
			return err
		}
	}
	return nil
}

// reply makes the body with which a host answers a step.
func (p *player) reply(step map[string]any, reply []any) map[string]any {
	filled := fill(reply, p.fills()).([]any)
	output, ok := filled[1].(string)
	if !ok {
		text, _ := json.Marshal(filled[1])
		output = string(text)
	}
	body := map[string]any{
		"step_type": step["step_type"], "step_id": step["step_id"], "exit_code": filled[0], "output": output, "error": "",
	}
	if len(filled) > 2 {
		body["error"] = filled[2]
	}
	return body
}
