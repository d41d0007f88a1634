package operators_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"slipway/internal/cluster/operators"
)

var update = flag.Bool("update", false, "write the golden files and the page in docs/reference/")

// objects reads the documents of manifests, each of which must be an object.
func objects(t *testing.T, files []operators.File) []unstructured.Unstructured {
	t.Helper()
	var out []unstructured.Unstructured
	for _, f := range files {
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(f.Content), 4096)
		for {
			var o unstructured.Unstructured
			err := documents.Decode(&o.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, "%s:\n%s", f.Name, f.Content)
			require.NotEmpty(t, o.GetAPIVersion(), f.Name)
			require.NotEmpty(t, o.GetKind(), f.Name)
			require.NotEmpty(t, o.GetName(), f.Name)
			out = append(out, o)
		}
	}
	return out
}

func TestEveryOperatorIsSubscribedToAsItIsMonitored(t *testing.T) {
	t.Parallel()
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.choose(with(o.Name)...)
			olm, custom, err := operators.Manifests(w.c, w.hosts)
			require.NoError(t, err)
			objects(t, custom)
			subscribed, groups := map[string]bool{}, map[string]int{}
			for _, obj := range objects(t, olm) {
				switch obj.GetKind() {
				case "Subscription":
					subscribed[obj.GetNamespace()+"/"+obj.GetName()] = true
				case "OperatorGroup":
					groups[obj.GetNamespace()]++
				}
			}
			for _, m := range operators.Monitored(w.c) {
				require.True(t, subscribed[m.Namespace+"/"+m.SubscriptionName], m.Name)
				if m.Namespace == "openshift-operators" {
					require.Zero(t, groups[m.Namespace], "the cluster has one there")
				} else {
					require.Equal(t, 1, groups[m.Namespace], "two groups in a namespace install nothing")
				}
			}
		})
	}
}

func TestClustersWithoutOperatorsHaveNoManifests(t *testing.T) {
	t.Parallel()
	olm, custom, err := operators.Manifests(newWorld().c, nil)
	require.NoError(t, err)
	require.Empty(t, olm)
	require.Empty(t, custom)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
