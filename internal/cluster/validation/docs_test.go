package validation_test

import (
	"flag"
	"testing"

	"slipway/internal/cluster/validation"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write docs/reference/validations.md and the files in testdata/")

func TestDocsOfValidations(t *testing.T) {
	t.Parallel()
	var hosts, clusters [][]string
	for _, r := range validation.HostRules() {
		pool := "in a cluster"
		if r.Unbound {
			pool = "always"
		}
		if r.HiddenOnceStaged {
			pool += ", until it is installed"
		}
		if len(r.HiddenIn) > 0 {
			pool += ", until it reboots"
		}
		hosts = append(hosts, []string{"`" + string(r.ID) + "`", r.Category, pool, ignorable(validation.HostIgnorable(r.ID)), r.Why})
	}
	for _, r := range validation.ClusterRules() {
		clusters = append(clusters, []string{"`" + string(r.ID) + "`", r.Category, ignorable(validation.ClusterIgnorable(r.ID)), r.Why})
	}
	text := docpage.Title("Validations", "internal/cluster/validation") +
		"Rules that hosts and clusters must pass before a disk is touched. Each result is `success`, `failure`, `pending` (a fact is " +
		"still missing),\n" +
		"`error` or `disabled`, with a sentence that says what is required and what was found; a rule that does not concern a host is " +
		"left out\n" +
		"and passes. `slipway cluster show` and `slipway host show` list those that did not pass. Limits of CPU, memory and disks are in\n" +
		"`GET /v2/clusters/{cluster_id}/preflight-requirements`; set others with `HW_VALIDATOR_REQUIREMENTS`.\n\n" +
		"A rule that is switched off is not evaluated, is `disabled` and stops nothing. A rule that a cluster ignores keeps its result and " +
		"stops nothing.\n`DISABLED_HOST_VALIDATIONS` and `DISABLED_CLUSTER_VALIDATIONS`\n" +
		"list the rules a deployment switches off. A cluster has lists of its own, which take their place: `PUT " +
		"/v2/clusters/{cluster_id}/ignored-validations`,\n" +
		"with `all` for every rule that can be ignored.\n\n" +
		"## Of a host\n" + docpage.Table([]string{"id", "category", "evaluated", "can be ignored", "why it is required"}, hosts) +
		"## Of a cluster\n" + docpage.Table([]string{"id", "category", "can be ignored", "why it is required"}, clusters)
	docpage.Check(t, *update, "validations.md", text[:len(text)-1])
}

func ignorable(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
