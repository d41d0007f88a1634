package features_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
)

// cell is assisted-service's answer for one feature in one setting.
type cell struct {
	version, architecture, platform, feature string
	level, reason, excludes                  string
}

type deliberateCell struct {
	row    string
	differ func(want, got cell) bool
}

// deliberate are the cells that differ and are meant to: their rows of docs/compatibility.md.
var deliberate = []deliberateCell{
	{"E22", func(want, got cell) bool {
		return want.version == "4.11" && (want.architecture == "s390x" || want.architecture == "ppc64le") &&
			want.level == "unavailable" && want.reason == "" && (got.level == "unavailable" || got.level == "absent")
	}},
	{"K28", func(want, got cell) bool {
		return got.level == "unavailable" && got.reason == "platform" && want.reason == "" &&
			slices.Contains([]string{"CLUSTER_MANAGED_NETWORKING", "USER_MANAGED_LOAD_BALANCER", "VIP_AUTO_ALLOC"}, want.feature)
	}},
}

// TestMatrixIsThatOfTheExistingService compares every cell: testdata/features-matrix-upstream.txt.gz has the answers of the rules of
// openshift/assisted-service at commit 063b257950f7, one line a cell: version|architecture|platform|feature|level|reason|[features that
// exclude it].
func TestMatrixIsThatOfTheExistingService(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/features-matrix-upstream.txt.gz")
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	answers := map[features.Setting]map[string]features.Support{}
	seen := map[features.Setting]int{}
	compared, meant := 0, map[string]int{}
	for lines := bufio.NewScanner(text); lines.Scan(); {
		f := strings.Split(lines.Text(), "|")
		require.Len(t, f, 7, lines.Text())
		want := cell{f[0], f[1], f[2], f[3], f[4], f[5], strings.Trim(f[6], "[]")}
		platform, name, _ := strings.Cut(want.platform, "/")
		setting := features.Setting{Version: want.version, Architecture: want.architecture, Platform: platform, ExternalName: name}
		if answers[setting] == nil {
			answers[setting] = detailed(t, setting)
		}
		seen[setting]++
		compared++
		answer, found := answers[setting][want.feature]
		got := cell{version: want.version, architecture: want.architecture, platform: want.platform, feature: want.feature, level: "absent"}
		if found {
			got.level, got.reason, got.excludes = string(answer.Level), string(answer.Reason), names(ofV2(answer.Incompatibilities))
		}
		if want == got {
			continue
		}
		row := slices.IndexFunc(deliberate, func(d deliberateCell) bool { return d.differ(want, got) })
		if row < 0 {
			t.Errorf("require %+v, found %+v", want, got)
			continue
		}
		meant[deliberate[row].row]++
	}
	for setting, answer := range answers { // neither has a feature that the other lacks; where E22 holds it has fewer
		if len(answer) > seen[setting] {
			t.Errorf("%+v: require %d features, found %d", setting, seen[setting], len(answer))
		}
	}
	t.Logf("compared %d cells of %d settings, deliberate %v", compared, len(answers), meant)
	require.Equal(t, 21374, compared)
}

func detailed(t *testing.T, s features.Setting) map[string]features.Support {
	t.Helper()
	list, err := operators.Features.Detailed(s)
	require.NoError(t, err, fmt.Sprintf("%+v", s))
	out := map[string]features.Support{}
	for _, f := range list {
		if beyondV2[f.ID] == "" {
			out[string(f.ID)] = f
		}
	}
	return out
}

func names(list []features.ID) string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
