package operators_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
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

func TestManifestsOfClusters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		choose []string
		change func(*fixture)
	}{
		"storage":        {[]string{"lso", "odf", "mce"}, nil},
		"compact":        {[]string{"lso", "odf"}, (*fixture).compact},
		"remediation":    {[]string{"node-healthcheck", "self-node-remediation", "fence-agents-remediation"}, nil},
		"virtualization": {[]string{"cnv", "mtv", "metallb", "nmstate", "kube-descheduler", "numaresources"}, nil},
		"single-node":    {[]string{"cnv", "mce"}, (*fixture).single},
		"models": {
			[]string{"authorino", "lvm", "node-feature-discovery", "nvidia-gpu", "openshift-ai", "pipelines", "serverless", "servicemesh"},
			nil,
		},
		"sandboxes": {[]string{"kmm", "node-feature-discovery", "osc", "amd-gpu"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			w.choose(tt.choose...)
			olm, custom, err := operators.Manifests(w.c, w.hosts)
			require.NoError(t, err)
			objects(t, olm)
			objects(t, custom)
			var text strings.Builder
			for _, f := range append(olm, custom...) {
				text.WriteString("--- # " + f.Name + "\n" + string(f.Content))
			}
			golden(t, name+".yaml", text.String())
		})
	}
	olm, custom, err := operators.Manifests(newWorld().c, nil)
	require.NoError(t, err)
	require.Empty(t, olm)
	require.Empty(t, custom)
}

func TestManifestsComeAfterWhatTheyNeed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.choose("mtv", "cnv", "odf", "lso", "amd-gpu", "node-feature-discovery", "kmm")
	_, custom, err := operators.Manifests(w.c, w.hosts)
	require.NoError(t, err)
	var order []string
	for _, f := range custom {
		order = append(order, f.Name)
	}
	require.Equal(t, []string{
		"operator-node-feature-discovery.yaml", "operator-amd-gpu.yaml", "operator-cnv.yaml", "operator-lso.yaml",
		"operator-mtv.yaml", "operator-odf.yaml",
	}, order)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
