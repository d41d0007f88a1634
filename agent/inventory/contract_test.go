package inventory_test

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
)

// TestInventoriesFitTheAPI checks the recorded machines with the schema of the API, which
// is the contract's: no value of another type or word, no field it does not know.
func TestInventoriesFitTheAPI(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	require.NoError(t, err)
	schema := document.Components.Schemas["inventory"]
	require.NotNil(t, schema)
	for name, path := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(inventory.Collect(t.Context(), record(t, path).machine(t)))
			require.NoError(t, err)
			var found any
			require.NoError(t, json.Unmarshal(text, &found))
			require.NoError(t, schema.Value.VisitJSON(found))
			requireKnown(t, "inventory", schema.Value, found)
		})
	}
}

func requireKnown(t *testing.T, at string, schema *openapi3.Schema, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			property := schema.Properties[key]
			require.NotNil(t, property, "%s.%s is not in the contract", at, key)
			requireKnown(t, at+"."+key, property.Value, inner)
		}
	case []any:
		for _, inner := range value {
			requireKnown(t, at+"[]", schema.Items.Value, inner)
		}
	}
}
