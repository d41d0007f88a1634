package crds_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"slipway/deploy/crds"
)

// testdata has the definitions of the existing service without their prose: openshift/assisted-service, config/crd/bases. A cluster
// that has either can be given the other: no object becomes invalid, and none loses a field.
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
			require.Equal(t, wanted, found)
			require.Empty(t, undocumented(documented), "kubectl explain says nothing of them")
		})
	}
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
