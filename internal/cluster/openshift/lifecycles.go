package openshift

import (
	"encoding/json"
	"fmt"
)

// phases are the support levels of the phases in the life of a minor version, as the
// product life-cycle service names them.
var phases = map[string]string{
	"Full Support":        SupportProduction,
	"Maintenance Support": SupportMaintenance,
	"End of life":         SupportEndOfLife,
}

// ParseLifeCycles reads the answer of the product life-cycle service: the support level
// of each minor version, such as "4.22". Phases that follow maintenance, and are paid for
// apart, count as maintenance.
func ParseLifeCycles(data []byte) (map[string]string, error) {
	var page struct {
		Data []struct {
			Versions []struct {
				Name string `json:"name"`
				Type string `json:"type"`
			} `json:"versions"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, fmt.Errorf("read life cycles: %w", err)
	}
	out := map[string]string{}
	for _, product := range page.Data {
		for _, v := range product.Versions {
			if out[v.Name] = phases[v.Type]; out[v.Name] == "" {
				out[v.Name] = SupportMaintenance
			}
		}
	}
	return out, nil
}

// ParseGraph reads the versions in an answer of the update service.
func ParseGraph(data []byte) ([]string, error) {
	var graph struct {
		Nodes []struct {
			Version string `json:"version"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(data, &graph); err != nil {
		return nil, fmt.Errorf("read update graph: %w", err)
	}
	versions := make([]string, len(graph.Nodes))
	for i, n := range graph.Nodes {
		versions[i] = n.Version
	}
	return versions, nil
}
