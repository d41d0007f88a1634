package configs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// roleLabel says whose nodes a machine config is for.
const roleLabel = "machineconfiguration.openshift.io/role"

// MachineConfig is the Ignition of a MachineConfig object.
type MachineConfig struct {
	Name   string
	Config []byte
}

// MachineConfigs lists the machine configs among objects that are for a role, in the order of their names.
func MachineConfigs(objects []*unstructured.Unstructured, role string) ([]MachineConfig, error) {
	var found []MachineConfig
	for _, o := range objects {
		if o.GetKind() != "MachineConfig" || !isFor(o, role) {
			continue
		}
		config, exists, err := unstructured.NestedMap(o.Object, "spec", "config")
		if err != nil {
			return nil, fmt.Errorf("read machine config %s: %w", o.GetName(), err)
		}
		if !exists {
			continue
		}
		data, err := json.Marshal(config)
		if err != nil {
			return nil, fmt.Errorf("read machine config %s: %w", o.GetName(), err)
		}
		found = append(found, MachineConfig{o.GetName(), data})
	}
	slices.SortFunc(found, func(a, b MachineConfig) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// isFor decides by the label; the installer's configs have the role in their name alone.
func isFor(o *unstructured.Unstructured, role string) bool {
	if labelled, ok := o.GetLabels()[roleLabel]; ok {
		return labelled == role
	}
	return strings.HasPrefix(o.GetName(), "99-"+role+"-")
}
