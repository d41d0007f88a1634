package validation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

// said is the result of a rule in one case.
type said struct {
	name   string
	result model.ValidationResult
}

func saidOfHosts() map[string][]said {
	out := map[string][]said{}
	for _, tt := range allHostCases() {
		out[tt.id] = append(out[tt.id], said{tt.name, tt.evaluate()})
	}
	for id, list := range saidOfOperators(evaluateOperatorOnHost, hostBreaks) {
		out[id] = append(out[id], list...)
	}
	return out
}

func saidOfClusters() map[string][]said {
	out := map[string][]said{}
	for _, tt := range allClusterCases() {
		out[tt.id] = append(out[tt.id], said{tt.name, tt.evaluate()})
	}
	for id, list := range saidOfOperators(evaluateOperatorOnCluster, clusterBreaks) {
		out[id] = append(out[id], list...)
	}
	for _, s := range saidOfAIGPU() {
		out[s.result.ID] = append(out[s.result.ID], s)
	}
	return out
}

// TestMessages holds what every rule says in its cases: a change of a sentence is seen.
func TestMessages(t *testing.T) {
	t.Parallel()
	for kind, all := range map[string]map[string][]said{"host": saidOfHosts(), "cluster": saidOfClusters()} {
		for id, list := range all {
			t.Run(kind+" "+id, func(t *testing.T) {
				t.Parallel()
				var text strings.Builder
				for _, s := range list {
					status := string(s.result.Status)
					if s.result.Status == absent {
						status = "not shown"
					}
					fmt.Fprintf(&text, "%s\n\t%s: %s\n", s.name, status, s.result.Message)
				}
				golden(t, filepath.Join("testdata", kind, id+".txt"), text.String())
			})
		}
	}
}

func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test ./internal/cluster/validation -update writes it")
	require.Equal(t, string(want), text)
}

// neverEvaluated are ids of the contract that no rule has.
var neverEvaluated = map[string]string{
	"release-domain-name-resolved-correctly": "a mirror or a proxy makes the answer meaningless; the contract's service does not " +
		"evaluate it either",
	"ocs-requirements-satisfied": "the operator is called odf since OpenShift 4.9, and the id odf-requirements-satisfied is " +
		"the evaluated one",
}

// neverWaits are rules that decide at once: none of their facts can be missing or broken.
var neverWaits = map[string]string{
	"host connected":                            "a host that never polled has just registered",
	"host media-connected":                      "the media counts as connected until a step says otherwise",
	"host machine-cidr-defined":                 "the cluster has a machine network or not",
	"host ntp-synced":                           "a host that told no source follows none",
	"host container-images-available":           "only a pull that failed counts",
	"host sufficient-installation-disk-speed":   "only a check that failed counts",
	"host compatible-agent":                     "every agent reports its version when it registers",
	"host no-skip-installation-disk":            "disks that are not known are not kept either",
	"host no-skip-missing-disk":                 "disks that are not known are not missed",
	"host no-iscsi-nic-belongs-to-machine-cidr": "it concerns only disks that are known",

	"cluster pull-secret-set":                         "the cluster has one or not",
	"cluster platform-requirements-satisfied":         "the cluster has the manifests or not",
	"cluster all-hosts-are-ready-to-install":          "each host has a status",
	"cluster sufficient-masters-count":                "each host has a role",
	"cluster cluster-cidr-defined":                    "the cluster has it or not",
	"cluster service-cidr-defined":                    "the cluster has it or not",
	"cluster dns-domain-defined":                      "the cluster has it or not",
	"cluster network-type-valid":                      "the cluster has one",
	"cluster custom-manifests-requirements-satisfied": "the cluster has the manifests or not",
	"cluster ntp-server-configured":                   "hosts that told no time are left out",
	"cluster openshift-ai-gpu-requirements-satisfied": "it depends on what is chosen",
}

// neverFails are rules that only advise.
var neverFails = map[string]string{
	"cluster openshift-ai-gpu-requirements-satisfied": "models work without GPUs; the operators for GPUs require one",
}

// idsOfDocument returns the values of an enumeration of the API document.
func idsOfDocument(t *testing.T, schema string) []string {
	t.Helper()
	document, err := os.ReadFile("../../../api/openapi.yaml")
	require.NoError(t, err)
	match := regexp.MustCompile(`(?m)^    ` + schema + `:\n(?:      .*\n)*?      enum:\n((?:      +- .*\n)+)`).FindSubmatch(document)
	require.NotNil(t, match, schema)
	var out []string
	for line := range strings.Lines(string(match[1])) {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "-")))
	}
	return out
}

// TestEveryValidationIDIsCovered holds that each id of the contract has a case that passes, a case that fails and a case with a missing
// or broken fact, or a reason why not. The line it prints is shown by make test.
func TestEveryValidationIDIsCovered(t *testing.T) {
	t.Parallel()
	counts := map[string]string{}
	unevaluated := 0
	for kind, all := range map[string]map[string][]said{"host": saidOfHosts(), "cluster": saidOfClusters()} {
		ids := idsOfDocument(t, kind+"-validation-id")
		covered := 0
		for _, id := range ids {
			if neverEvaluated[id] != "" {
				unevaluated++
				covered++
				continue
			}
			missing := lacks(kind, id, all[id])
			require.Empty(t, missing, "%s %s", kind, id)
			covered++
		}
		counts[kind] = fmt.Sprintf("%s %d/%d", kind, covered, len(ids))
	}
	fmt.Printf(
		"validation ids covered: %s, %s (%d of them never evaluated, each with its reason)\n",
		counts["host"],
		counts["cluster"],
		unevaluated,
	)
}

// lacks returns the kinds of cases that a rule lacks.
func lacks(kind, id string, list []said) []string {
	found := map[model.ValidationStatus]bool{}
	for _, s := range list {
		found[s.result.Status] = true
	}
	var out []string
	if !found[ok] {
		out = append(out, "a case that passes")
	}
	minds := kind == "cluster" || !listed(hostsNeverMind, id)
	if !found[fails] && neverFails[kind+" "+id] == "" && minds {
		out = append(out, "a case that fails")
	}
	asks := kind == "host" && !listed(hostsNeverWait, id) || kind == "cluster" && !listed(clustersNeverWait, id)
	if !found[waits] && !found[errs] && neverWaits[kind+" "+id] == "" && asks {
		out = append(out, "a case that waits or errs")
	}
	return out
}
