package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/wire"
)

type clusterExport struct {
	clusterArgument
	fileFlag
}

// Run prints the definition of a cluster for 'cluster create --from'. The pull secret is not in it: the service does not give it out.
func (k *clusterExport) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := k.find(ctx, at.Client())
	if err != nil {
		return err
	}
	definition, err := definitionOf(cluster)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, definition)
	}
	text, err := yaml.Marshal(definition)
	if err != nil {
		return fmt.Errorf("write the definition: %w", err)
	}
	return k.write(t, "definition of "+cluster.Name, text)
}

// former are fields that say again what others say.
var former = []string{"cluster_network_cidr", "cluster_network_host_prefix", "service_network_cidr", "high_availability_mode"}

// definitionOf returns the fields of a new cluster that is defined as this one.
func definitionOf(c *wire.Cluster) (map[string]any, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("read the cluster: %w", err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the cluster: %w", err)
	}
	definition := map[string]any{}
	for _, field := range jsonFields(reflect.TypeFor[wire.ClusterCreateParams]()) {
		if value := present(trimmed(all[field])); value != nil && !slices.Contains(former, field) {
			definition[field] = value
		}
	}
	if c.VipDhcpAllocation { // the addresses are leased
		delete(definition, "api_vips")
		delete(definition, "ingress_vips")
	}
	if operators := chosen(c.MonitoredOperators); len(operators) > 0 {
		definition["olm_operators"] = operators
	}
	return definition, nil
}

// chosen returns the operators that a user chose: neither built-in ones nor what bundles and other operators brought.
func chosen(all []wire.MonitoredOperator) []map[string]string {
	var out []map[string]string
	for _, o := range all {
		if o.OperatorType != wire.Olm || o.DependencyOnly || len(o.SourceBundles) > 0 {
			continue
		}
		operator := map[string]string{"name": o.Name}
		if o.Properties != "" {
			operator["properties"] = o.Properties
		}
		out = append(out, operator)
	}
	return out
}

// jsonFields returns the names of the fields of a struct in JSON.
func jsonFields(of reflect.Type) []string {
	var names []string
	for n := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(n).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// trimmed drops what the service adds to the parts of a definition.
func trimmed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "cluster_id")
		delete(v, "verification")
		for key, part := range v {
			if v[key] = trimmed(part); present(v[key]) == nil {
				delete(v, key)
			}
		}
	case []any:
		for n := range v {
			v[n] = trimmed(v[n])
		}
	}
	return value
}

// present returns nil for a value that says no more than an absent one.
func present(value any) any {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
		return nil
	}
	return value
}
