package manifests_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/cluster/operators"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
)

func TestManifestsOfEveryOperatorCanBeRead(t *testing.T) {
	t.Parallel()
	for _, name := range operators.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(func(in *manifests.Input) { in.Cluster.OLMOperators = []model.OLMOperator{{Name: name}} })
			files, err := manifests.Generate(in)
			require.NoError(t, err)
			require.NotEmpty(t, files, "at least its subscription")
			for _, f := range files {
				require.Equal(t, manifests.FolderOpenShift, f.Folder)
				require.NoError(t, manifests.CheckName(f.Name))
				requireObjects(t, f.Name, f.Content)
			}
			late, err := manifests.LateManifests(in.Cluster, in.Hosts)
			require.NoError(t, err)
			for _, m := range late {
				requireObjects(t, m.Name, m.Content)
			}
		})
	}
}

// requireObjects requires Kubernetes objects, one a document.
func requireObjects(t *testing.T, name string, content []byte) {
	t.Helper()
	documents, err := manifests.Documents(name, content)
	require.NoError(t, err)
	require.NotEmpty(t, documents, name)
	for _, d := range documents {
		var o struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		require.NoError(t, yaml.Unmarshal(d, &o))
		require.NotEmpty(t, o.APIVersion, "%s: %s", name, d)
		require.NotEmpty(t, o.Kind, "%s: %s", name, d)
		require.NotEmpty(t, o.Metadata.Name, "%s: %s", name, d)
		require.NotContains(t, strings.ToLower(string(d)), "<no value>")
	}
}
