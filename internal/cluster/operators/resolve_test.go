package operators_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

func named(names ...string) []model.OLMOperator {
	var out []model.OLMOperator
	for _, name := range names {
		out = append(out, model.OLMOperator{Name: name})
	}
	return out
}

func names(list []model.OLMOperator) []string {
	var out []string
	for _, o := range list {
		out = append(out, o.Name)
	}
	return out
}

func TestResolveAddsWhatOperatorsNeed(t *testing.T) {
	t.Parallel()
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			got, err := operators.Resolve(named(o.Name), nil, newWorld().c)
			require.NoError(t, err)
			want := with(o.Name)
			if o.Name == "node-healthcheck" || slices.Contains(o.Dependencies, "node-healthcheck") {
				want = append(want, "self-node-remediation")
			}
			slices.Sort(want)
			require.Equal(t, slices.Compact(want), names(got))
			for _, found := range got {
				require.Equal(t, found.Name != o.Name, found.DependencyOnly, found.Name)
			}
			require.Equal(t, named(o.Name), operators.Asked(got))
		})
	}
}

func TestResolveTellsWhereAnOperatorCameFrom(t *testing.T) {
	t.Parallel()
	c := newWorld().c
	asked := []model.OLMOperator{{Name: "cnv", Properties: `{"a":1}`}, {Name: "kmm"}}
	got, err := operators.Resolve(asked, []model.OperatorBundle{
		{ID: "virtualization"}, {ID: "openshift-ai", Optional: []string{"amd-gpu"}},
	}, c)
	require.NoError(t, err)
	find := func(name string) model.OLMOperator {
		i := slices.IndexFunc(got, func(o model.OLMOperator) bool { return o.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		return got[i]
	}
	require.Equal(t, model.OLMOperator{Name: "cnv", Properties: `{"a":1}`, Bundles: []string{"virtualization"}}, find("cnv"))
	require.Equal(t, model.OLMOperator{Name: "odf", Bundles: []string{"openshift-ai"}, BundleOnly: true}, find("odf"))
	require.Equal(t, model.OLMOperator{Name: "amd-gpu", Bundles: []string{"openshift-ai"}, BundleOnly: true}, find("amd-gpu"))
	require.Equal(t, model.OLMOperator{Name: "lso", DependencyOnly: true}, find("lso"))
	require.Equal(t, model.OLMOperator{Name: "kmm"}, find("kmm"), "asked for, although another needs it")
	require.NotContains(t, names(got), "nvidia-gpu")
	require.Equal(t, asked, operators.Asked(got))

	c.OLMOperators = got
	in, from, dependency := operators.Origin(c, "odf")
	require.Equal(t, []string{"openshift-ai"}, in)
	require.Equal(t, []string{"openshift-ai"}, from)
	require.False(t, dependency)
	in, from, dependency = operators.Origin(c, "lso")
	require.Empty(t, in)
	require.Empty(t, from)
	require.True(t, dependency)
	in, _, _ = operators.Origin(c, operators.Console)
	require.Equal(t, []string{}, in)

	again, err := operators.Resolve(operators.Asked(got), nil, c)
	require.NoError(t, err)
	require.Equal(t, []string{"cnv", "kmm"}, names(again), "what bundles brought goes with them")
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		asked   []string
		bundles []model.OperatorBundle
		change  func(*fixture)
		says    []string
	}{
		{
			"an operator that is not available",
			[]string{"mystery"},
			nil, nil,
			[]string{"olm_operators", `found "mystery"`, "amd-gpu, authorino"},
		},
		{
			"a bundle that is not available", nil,
			[]model.OperatorBundle{{ID: "all"}},
			nil,
			[]string{"operator_bundles: require one of virtualization, openshift-ai", `found "all"`},
		},
		{
			"an optional operator of no bundle", nil,
			[]model.OperatorBundle{{ID: "virtualization", Optional: []string{"amd-gpu"}}},
			nil,
			[]string{"virtualization", `found "amd-gpu"`},
		},
		{"operators that exclude each other", []string{"lvm", "odf"}, nil, nil, []string{"(LVM)", "(ODF)", "exclude each other"}},
		{
			"what another brings and it excludes",
			[]string{"lvm"},
			[]model.OperatorBundle{{ID: "openshift-ai"}},
			nil,
			[]string{"(LVM)", "(ODF)"},
		},
		{
			"what the version does not have",
			[]string{"mtv"},
			nil, func(w *fixture) { w.c.OpenShiftVersion = "4.13.1" },
			[]string{"(MTV)", "4.14", "4.13.1"},
		},
		{
			"virtual machines on volume groups of several nodes before 4.15",
			[]string{"cnv", "lvm"},
			nil, func(w *fixture) {
				w.c.OpenShiftVersion, w.c.UserManagedNetworking, w.c.Platform.Type = "4.14.9", true, "none"
			},
			[]string{"OpenShift Virtualization", "Logical volume manager storage", "require OpenShift 4.15 or newer", "found 4.14.9"},
		},
		{
			"virtual machines on volume groups of a single node before 4.12",
			[]string{"cnv", "lvm"},
			nil, func(w *fixture) { w.single(); w.version("4.11.9") },
			[]string{"OpenShift Virtualization", "Logical volume manager storage", "require OpenShift 4.12 or newer", "found 4.11.9"},
		},
		{
			"what the architecture does not have",
			[]string{"odf"},
			nil, func(w *fixture) { w.c.CPUArchitecture = "aarch64" },
			[]string{"(ODF)", "arm64"},
		},
		{
			"what the platform does not have",
			[]string{"cnv"},
			nil, func(w *fixture) { w.c.Platform.Type = "nutanix" },
			[]string{"(CNV)", "nutanix"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			_, err := operators.Resolve(named(tt.asked...), tt.bundles, w.c)
			require.ErrorIs(t, err, model.ErrInvalid)
			for _, text := range tt.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// OpenShift Data Foundation was OpenShift Container Storage.
func TestResolveTakesTheFormerNameOfAnOperator(t *testing.T) {
	t.Parallel()
	for _, asked := range [][]string{{"ocs"}, {"ocs", "odf"}, {"odf", "ocs"}} {
		got, err := operators.Resolve(named(asked...), nil, newWorld().c)
		require.NoError(t, err)
		require.Equal(t, []string{"lso", "odf"}, names(got))
		require.Equal(t, named("odf"), operators.Asked(got))
	}
}

func TestResolveBringsWhatAnOperatorWorksBestWith(t *testing.T) {
	t.Parallel()
	several, single, old := newWorld(), newWorld(), newWorld()
	single.single()
	old.single()
	old.version("4.11.9")
	for _, tt := range []struct {
		name  string
		asked string
		w     *fixture
		want  []string
	}{
		{"health checks need something that remedies", "node-healthcheck", several, []string{"node-healthcheck", "self-node-remediation"}},
		{"models are stored on a single node", "openshift-ai", single, []string{"lvm", "openshift-ai"}},
		{"storage of several nodes is the user's choice", "openshift-ai", several, []string{"openshift-ai"}},
		{"a folder of volumes needs a disk", "cnv", old, []string{"cnv", "lso"}},
		{"later versions have no folder of volumes", "cnv", single, []string{"cnv"}},
	} {
		got, err := operators.Resolve(named(tt.asked), nil, tt.w.c)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, names(got), tt.name)
		require.Equal(t, named(tt.asked), operators.Asked(got), tt.name)
		tt.w.c.OLMOperators = named(tt.asked)
		r := operators.NewPlan(tt.w.c, tt.w.hosts).ValidateCluster(operators.Find(tt.asked))
		require.NotContains(t, r.Message, "found it left out", "what is brought is not required")
	}
}

func TestResolveTakesVirtualMachinesOnVolumeGroups(t *testing.T) {
	t.Parallel()
	for version, change := range map[string]func(*fixture){"4.12.1": (*fixture).single, "4.15.0": func(*fixture) {}} {
		w := newWorld()
		change(w)
		w.version(version)
		got, err := operators.Resolve(named("cnv", "lvm"), nil, w.c)
		require.NoError(t, err, version)
		require.Equal(t, []string{"cnv", "lvm"}, names(got))
	}
}

func TestBundlesOnASingleNode(t *testing.T) {
	t.Parallel()
	b, err := operators.FindBundle("openshift-ai", true)
	require.NoError(t, err)
	require.Equal(t, []string{"lvm", "openshift-ai"}, b.Operators, "nothing serves models there")
	require.Equal(t, []string{"amd-gpu", "nvidia-gpu"}, b.Optional)
	require.Empty(t, operators.BundlesOf("servicemesh", true))
	b, err = operators.FindBundle("virtualization", true)
	require.NoError(t, err)
	require.Equal(t, []string{
		"cluster-observability", "cnv", "loki", "metallb", "mtv", "nmstate", "numaresources", "oadp", "openshift-logging",
	}, b.Operators)
	w := newWorld()
	w.single()
	for _, id := range []string{"virtualization", "openshift-ai"} {
		_, err = operators.Resolve(nil, []model.OperatorBundle{{ID: id}}, w.c)
		require.NoError(t, err)
	}
	_, err = operators.FindBundle("all", true)
	require.ErrorIs(t, err, model.ErrNotFound)
}

func TestBundlesOfASetting(t *testing.T) {
	t.Parallel()
	ids := func(s features.Setting) []string {
		list, err := operators.Bundles(s, false)
		require.NoError(t, err)
		out := []string{}
		for _, b := range list {
			out = append(out, b.ID)
		}
		return out
	}
	require.Equal(t, []string{"virtualization", "openshift-ai"}, ids(features.Setting{}))
	require.Equal(t, []string{"openshift-ai"}, ids(features.Setting{Version: "4.13"}), "mtv came with 4.14")
	require.Equal(t, []string{"openshift-ai"}, ids(features.Setting{Version: "4.16"}), "loki came with 4.17")
	require.Equal(t, []string{"virtualization", "openshift-ai"}, ids(features.Setting{Version: "4.17"}))
	require.Equal(t, []string{}, ids(features.Setting{Architecture: "s390x"}))
	require.Equal(t, []string{"openshift-ai"}, ids(features.Setting{Platform: "vsphere"}))
	require.Equal(t, []string{}, ids(features.Setting{Platform: "external", ExternalName: "oci"}))
	_, err := operators.Bundles(features.Setting{Version: "new"}, false)
	require.ErrorIs(t, err, model.ErrInvalid)
}
