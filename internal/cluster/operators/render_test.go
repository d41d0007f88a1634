package operators_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// rendered are objects by kind and name, like "Subscription/nfd".
type rendered map[string]unstructured.Unstructured

// render returns the manifests of a cluster's installation, and the manifests it takes once its operators run.
func render(t *testing.T, w *fixture) (day1, late rendered) {
	t.Helper()
	olm, custom, err := operators.Manifests(w.c, w.hosts)
	require.NoError(t, err)
	byName := func(files []operators.File) rendered {
		out := rendered{}
		for _, obj := range objects(t, files) {
			key := obj.GetKind() + "/" + obj.GetName()
			require.NotContains(t, out, key, "rendered twice")
			out[key] = obj
		}
		return out
	}
	return byName(olm), byName(custom)
}

// requireField compares a field with a value in YAML; empty: the field is absent. Dots part the path, a number is an index.
func requireField(t *testing.T, obj unstructured.Unstructured, path, want string) {
	t.Helper()
	require.NotNil(t, obj.Object, "no such object")
	var found any = obj.Object
	for _, part := range strings.Split(path, ".") {
		switch at := found.(type) {
		case map[string]any:
			found = at[part]
		case []any:
			require.Len(t, part, 1, path)
			require.Less(t, int(part[0]-'0'), len(at), path)
			found = at[part[0]-'0']
		default:
			found = nil
		}
	}
	text, err := yaml.Marshal(found)
	require.NoError(t, err)
	if want == "" {
		require.Nil(t, found, "%s of %s %s", path, obj.GetKind(), obj.GetName())
		return
	}
	require.YAMLEq(t, want, string(text), "%s of %s %s", path, obj.GetKind(), obj.GetName())
}

// Topologies, and a release to run setup jobs with.

func (w *fixture) version(v string) *fixture {
	w.c.OpenShiftVersion = v
	return w
}

// arbitered has two control plane hosts and an arbiter, and workers if they are kept.
func (w *fixture) arbitered() {
	w.c.ControlPlaneCount = 2
	w.hosts[2].Role = model.RoleArbiter
}

func (w *fixture) compactArbitered() {
	w.compact()
	w.arbitered()
}

const cliImage = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:5f9d4a1e0b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6"

func (w *fixture) released() { w.c.ReleaseComponents = map[string]string{"cli": cliImage} }
