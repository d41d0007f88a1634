package operators_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/internal/cluster/operators"
	"slipway/internal/testing/docpage"
)

func TestDocsOfOperators(t *testing.T) {
	t.Parallel()
	p := operators.NewPlan(newWorld().c, nil)
	var list, needs, bundles [][]string
	for _, o := range operators.All() {
		s := o.Subscription
		list = append(list, []string{
			"`" + o.Name + "`", o.Description, orNone(code(o.Dependencies)), "`" + s.Namespace + "` / `" + s.Name + "`", orNone(s.Channel),
			fmt.Sprint(int(o.Timeout / time.Minute)),
		})
		master, worker := p.Preflight(o)
		if master.CPUCores+worker.CPUCores == 0 {
			continue
		}
		needs = append(
			needs,
			[]string{
				"`" + o.Name + "`",
				amount(master),
				amount(worker),
				single(o.Needs),
				strings.Join(union(master.Also, worker.Also), "; "),
			},
		)
	}
	for _, id := range []string{"virtualization", "openshift-ai"} {
		several, _ := operators.FindBundle(id, false)
		one, _ := operators.FindBundle(id, true)
		bundles = append(
			bundles,
			[]string{"`" + id + "`", several.Description, code(several.Operators), code(one.Operators), orNone(code(several.Optional))},
		)
	}
	text := docpage.Title("Operators", "internal/cluster/operators") +
		"Operators that clusters are installed with: `olm_operators` and `operator_bundles` of a cluster choose them until its " +
		"installation begins.\n" +
		"What an operator needs comes with it (`dependency_only` of `monitored_operators`), what bundles brought goes with them. Which " +
		"versions,\n" +
		"architectures and platforms have an operator, and what it excludes: `GET /v2/support-levels/features/detailed`.\n\n" +
		"Each operator is a namespace, an operator group and a subscription among the manifests of the installation, from the channel " +
		"of the table or the\ndefault one of its package. What it is to do comes with\n" +
		"`custom_manifests.json`, which the controller applies once the operators run. The installation waits for them as long as each " +
		"may take,\n" +
		"then continues without those that failed. Every host and cluster has a rule for each (docs/reference/validations.md); one that " +
		"is not chosen passes.\n\n" +
		"## Available operators\n" +
		docpage.Table([]string{"name", "what for", "needs", "namespace / subscription", "channel", "minutes"}, list) +
		"## Added to what a host needs\nIn addition to the requirements of its role; others add nothing. `odf` adds 2 cores and 5 GiB " +
		"for every disk it stores on, at least one,\n" +
		"to the workers or, without workers, to the control plane; `lvm` adds 400 MiB before OpenShift 4.16 and 1200 MiB before 4.13.\n\n" +
		docpage.Table([]string{"name", "control plane", "worker", "single node", "besides"}, needs) +
		"## Bundles\n" + docpage.Table([]string{"id", "what for", "operators", "on a single node", "optional"}, bundles)
	docpage.Check(t, *update, "operators.md", text[:len(text)-1])
}

func code(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return strings.Join(out, " ")
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func amount(n operators.Need) string {
	if n.CPUCores == 0 {
		return "-"
	}
	return fmt.Sprintf("%d cores, %d MiB", n.CPUCores, n.RAMMiB)
}

func single(n operators.Needs) string {
	if n.Single == nil {
		return "as the control plane"
	}
	return amount(*n.Single)
}

func union(a, b []string) []string {
	return append(slices.Clone(a), slices.DeleteFunc(slices.Clone(b), func(text string) bool { return slices.Contains(a, text) })...)
}
