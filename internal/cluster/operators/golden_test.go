package operators_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
)

// topologies are the shapes that each operator is rendered for.
var topologies = map[string]func(*fixture){
	"sno":     (*fixture).single,
	"compact": (*fixture).compact,
	"ha":      func(*fixture) {},
}

// goldenCase describes the golden file of its name, which holds the first of the operators, and others as far as they change it.
type goldenCase struct {
	file    string
	choose  []string
	version string
	change  func(*fixture)
}

// goldenCases differ by more than the topology.
var goldenCases = []goldenCase{
	{"cnv/sno-4.11", []string{"cnv"}, "4.11.9", (*fixture).single},
	{"kmm/ha-with-odf", []string{"kmm", "odf"}, "", (*fixture).released},
	{"kube-descheduler/ha-with-cnv-4.16", []string{"kube-descheduler", "cnv"}, "4.16.1", nil},
	{"kube-descheduler/ha-with-cnv-4.17", []string{"kube-descheduler", "cnv"}, "4.17.1", nil},
	{"kube-descheduler/ha-with-cnv-4.18", []string{"kube-descheduler", "cnv"}, "4.18.1", nil},
	{"kube-descheduler/ha-with-cnv-4.19", []string{"kube-descheduler", "cnv"}, "4.19.1", nil},
	{"kube-descheduler/ha-with-cnv-4.20", []string{"kube-descheduler", "cnv"}, "4.20.1", nil},
	{"lso/ha-with-odf", []string{"lso", "odf"}, "", nil},
	{"lvm/sno-4.11", []string{"lvm"}, "4.11.9", (*fixture).single},
	{"mce/ha-with-odf", []string{"mce", "odf"}, "", nil},
	{"mce/sno-with-lvm", []string{"mce", "lvm"}, "", (*fixture).single},
	{"numaresources/arbiter", []string{"numaresources"}, "", (*fixture).arbitered},
	{"numaresources/compact-4.17", []string{"numaresources"}, "4.17.1", (*fixture).compact},
	{"numaresources/ha-4.17", []string{"numaresources"}, "4.17.1", nil},
	{"odf/arbiter", []string{"odf"}, "", (*fixture).arbitered},
	{"odf/arbiter-compact", []string{"odf"}, "", (*fixture).compactArbitered},
	{"odf/compact-4.18", []string{"odf"}, "4.18.1", (*fixture).compact},
	{"odf/ha-4.18", []string{"odf"}, "4.18.1", nil},
	{"odf/ha-uneven", []string{"odf"}, "", func(w *fixture) { addDisk(w.hosts[5], "c", 50e9); addDisk(w.hosts[5], "d", 50e9) }},
	{"openshift-ai/ha-with-gpus", []string{"openshift-ai", "amd-gpu", "nvidia-gpu"}, "", nil},
	{"openshift-ai/ha-with-odf", []string{"openshift-ai", "odf"}, "", (*fixture).released},
}

// allGoldenCases adds every operator in every topology that it can be installed in.
func allGoldenCases(t *testing.T) []goldenCase {
	t.Helper()
	list, err := operators.Features.Detailed(features.Setting{Version: "4.22"})
	require.NoError(t, err)
	cases := slices.Clone(goldenCases)
	for _, f := range list {
		for topology, change := range topologies {
			alone := slices.Contains(f.Incompatibilities, features.SNO)
			if f.Operator != "" && (topology != "sno" || !alone) {
				cases = append(cases, goldenCase{f.Operator + "/" + topology, []string{f.Operator}, "", change})
			}
		}
	}
	return cases
}

// own returns the manifests that install one operator, out of the manifests of several.
func own(files []operators.File, of string) []operators.File {
	namespace := operators.Find(of).Subscription.Namespace
	return slices.DeleteFunc(slices.Clone(files), func(f operators.File) bool {
		rest, ours := strings.CutPrefix(f.Name, "50-"+namespace+"-")
		mine := slices.Contains([]string{"namespace.yaml", "group.yaml", "prometheus.yaml", of + ".yaml", of + "-subscription.yaml"}, rest)
		return !ours || !mine
	})
}

func TestRenderedManifests(t *testing.T) {
	t.Parallel()
	for _, tt := range allGoldenCases(t) {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.version != "" {
				w.version(tt.version)
			}
			if tt.change != nil {
				tt.change(w)
			}
			w.choose(tt.choose...)
			day1, late, err := operators.Manifests(w.c, w.hosts)
			require.NoError(t, err)
			objects(t, day1)
			objects(t, late)
			var text strings.Builder
			for _, f := range append(own(day1, tt.choose[0]), late...) {
				text.WriteString("--- # " + f.Name + "\n" + string(f.Content))
			}
			golden(t, filepath.Join("manifests", filepath.FromSlash(tt.file)+".yaml"), text.String())
		})
	}
}

func TestEveryOperatorHasGoldenFilesAndNoOther(t *testing.T) {
	t.Parallel()
	want := []string{}
	for _, tt := range allGoldenCases(t) {
		want = append(want, "testdata/manifests/"+tt.file+".yaml")
	}
	files, err := filepath.Glob("testdata/manifests/*/*.yaml")
	require.NoError(t, err)
	require.ElementsMatch(t, want, files)
	folders, err := os.ReadDir("testdata/manifests")
	require.NoError(t, err)
	require.Len(t, folders, len(operators.All()))
}
