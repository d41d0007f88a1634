package arch_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// ruleOfAnOperator ends the ids of rules that the pages describe together.
const ruleOfAnOperator = "-requirements-satisfied"

// TestPagesDescribeEveryValueOfTheAPI compares the pages that are written by hand with
// the closed sets of values of the API document.
func TestPagesDescribeEveryValueOfTheAPI(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../api/openapi.yaml")
	require.NoError(t, err)
	type schema struct {
		Enum       []string
		Properties map[string]struct{ Enum []string }
	}
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	require.NoError(t, yaml.Unmarshal(text, &document))
	for _, set := range []struct{ page, schema, property string }{
		{"state-rules.md", "host", "status"},
		{"state-rules.md", "cluster", "status"},
		{"state-rules.md", "cluster", "kind"},
		{"state-rules.md", "host", "kind"},
		{"installer.md", "host-stage", ""},
		{"state-rules.md", "finalizing-stage", ""},
		{"state-rules.md", "host-role", ""},
		{"step-rules.md", "step-type", ""},
		{"step-rules.md", "steps", "post_step_action"},
		{"step-rules.md", "vip_verification", ""},
		{"agent-protocol.md", "source_state", ""},
		{"agent-protocol.md", "drive_type", ""},
		{"agent-protocol.md", "secure-boot-state", ""},
		{"agent-protocol.md", "memory_method", ""},
		{"agent-protocol.md", "inventory", "tpm_version"},
		{"validation-rules.md", "host-validation-id", ""},
		{"validation-rules.md", "cluster-validation-id", ""},
		{"validation-rules.md", "cluster", "network_type"},
		{"images.md", "image_type", ""},
		{"ignition.md", "manifest", "folder"},
	} {
		values := document.Components.Schemas[set.schema].Enum
		if set.property != "" {
			values = document.Components.Schemas[set.schema].Properties[set.property].Enum
		}
		require.NotEmpty(t, values, "%s %s", set.schema, set.property)
		page, err := os.ReadFile("../../../docs/reference/" + set.page)
		require.NoError(t, err)
		words := regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(string(page), " ")
		missing := slices.DeleteFunc(slices.Clone(values), func(value string) bool {
			want := regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(value, " ")
			found := regexp.MustCompile(`(?:^|[ .])` + regexp.QuoteMeta(strings.TrimSpace(want)) + `(?:[ .]|$)`).MatchString(words)
			return found || strings.HasSuffix(value, ruleOfAnOperator)
		})
		require.Empty(t, missing, "docs/reference/%s does not describe all of %s %s", set.page, set.schema, set.property)
	}
}
