package manifests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/manifests"
)

func TestManifestsWithASecretAreRecognised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, content string
		want          bool
	}{
		"a config map":                  {"a.yaml", "kind: ConfigMap\ndata: {text: \"kind: Secret\"}\n", false},
		"a secret":                      {"a.yaml", "apiVersion: v1\nkind: Secret\ndata: {}\n", true},
		"a quoted kind":                 {"a.yml", "kind: 'Secret'\n", true},
		"the second document":           {"a.yaml", "kind: ConfigMap\n---\nkind: Secret\n", true},
		"JSON":                          {"a.json", `{"kind":"Secret"}`, true},
		"a list":                        {"a.json", `{"kind":"List","items":[{"kind":"ConfigMap"},{"kind":"Secret"}]}`, true},
		"a store of secrets":            {"a.yaml", "kind: SecretStore\n", false},
		"a patch of a secret":           {"a.yaml.patch", "- op: replace\n  path: /kind\n  value: Secret\n", true},
		"a patch of something other":    {"a.yaml.patch", "- op: replace\n  path: /spec\n  value: {}\n", false},
		"a text that cannot be read":    {"a.yaml", "kind: [Secret\n", true},
		"a list that is no list of any": {"a.yaml", "kind: ConfigMap\nitems: text\n", false},
	} {
		require.Equal(t, c.want, manifests.HoldsSecret(c.file, []byte(c.content)), name)
	}
}
