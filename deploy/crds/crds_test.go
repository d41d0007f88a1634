package crds_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"slipway/deploy/crds"
)

// testdata has the definitions of the existing service without their prose: openshift/assisted-service, config/crd/bases. A cluster
// that has either can be given the other: no object becomes invalid, and none loses a field but the ones in fields.
func TestDefinitionsEqualTheExistingServices(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(crds.Files, "*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, err := crds.Files.ReadFile(name)
			require.NoError(t, err)
			theirs, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			found, documented := shape(t, ours)
			wanted, _ := shape(t, theirs)
			require.Equal(t, len(fields[name]), drop(found, fields[name]), "fields that only our definition has")
			require.Equal(t, wanted, found)
			require.Equal(t, rules[name], added(t, theirs, ours), "rules that the existing service's webhooks have")
			require.Empty(t, undocumented(documented), "kubectl explain says nothing of them")
		})
	}
}

// fields lists the properties that only our definitions have. They are of the status: a controller writes them again.
var fields = map[string][]string{
	"agent-install.openshift.io_agents.yaml":                 {"workflowURL"},
	"extensions.hive.openshift.io_agentclusterinstalls.yaml": {"workflowURL"},
}

// drop removes properties by their names and returns how many there were.
func drop(tree any, names []string) (dropped int) {
	switch v := tree.(type) {
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for _, name := range names {
			if _, found := properties[name]; found {
				delete(properties, name)
				dropped++
			}
		}
		for _, below := range v {
			dropped += drop(below, names)
		}
	case []any:
		for _, below := range v {
			dropped += drop(below, names)
		}
	}
	return dropped
}

// rules lists the messages of rules that only our definitions have; openshift/assisted-service refuses the same in pkg/webhooks.
var rules = map[string][]string{
	"agent-install.openshift.io_agentclassifications.yaml": {
		"labelValue: require one that does not begin with QUERYERROR", "require the label of the creation: Agents have it",
	},
	"agent-install.openshift.io_agents.yaml": {"require installation_disk_id or installation_disk_path, found both"},
	"agent-install.openshift.io_infraenvs.yaml": {
		"clusterRef: require no change after the creation", "cpuArchitecture: require no change after the creation",
	},
	"extensions.hive.openshift.io_agentclusterinstalls.yaml": {"imageSetRef: require no change after the creation"},
}

// added lists the messages of the rules that only the second definition has.
func added(t *testing.T, without, with []byte) (list []string) {
	t.Helper()
	messages := func(content []byte) (list []string) {
		var walk func(value any)
		walk = func(value any) {
			switch v := value.(type) {
			case map[string]any:
				for key, below := range v {
					if text, is := below.(string); is && key == "message" && v["rule"] != nil {
						list = append(list, text)
					}
					walk(below)
				}
			case []any:
				for _, below := range v {
					walk(below)
				}
			}
		}
		var document map[string]any
		require.NoError(t, yaml.Unmarshal(content, &document))
		walk(document)
		return list
	}
	before := messages(without)
	for _, text := range messages(with) {
		if !slices.Contains(before, text) {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// shape returns a definition without prose and version of its generator, and its schema with prose.
func shape(t *testing.T, content []byte) (map[string]any, *apiextensions.JSONSchemaProps) {
	t.Helper()
	var definition apiextensions.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(content, &definition))
	var document map[string]any
	require.NoError(t, yaml.Unmarshal(content, &document))
	document["metadata"] = map[string]any{"name": definition.Name}
	require.Len(t, definition.Spec.Versions, 1)
	return withoutProse(document), definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// withoutProse removes descriptions. A property of that name would be a map.
func withoutProse(document map[string]any) map[string]any {
	without := map[string]any{}
	for key, value := range document {
		if _, prose := value.(string); prose && key == "description" {
			continue
		}
		if key == "x-kubernetes-validations" {
			continue // see added
		}
		without[key] = valueWithoutProse(value)
	}
	return without
}

func valueWithoutProse(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return withoutProse(v)
	case []any:
		list := make([]any, len(v))
		for n := range v {
			list[n] = valueWithoutProse(v[n])
		}
		return list
	}
	return value
}

// undocumented lists the fields below a schema that have no description.
func undocumented(s *apiextensions.JSONSchemaProps) []string {
	var missing []string
	for name, property := range s.Properties {
		if property.Description == "" && name != "metadata" {
			missing = append(missing, name)
		}
		for _, below := range undocumented(&property) {
			missing = append(missing, name+"."+below)
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		missing = append(missing, undocumented(s.Items.Schema)...)
	}
	return missing
}
