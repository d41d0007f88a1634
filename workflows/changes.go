package workflows

import "slipway/internal/cluster/steps"

// Changes lists the changes of workflows that a running installation can notice: the names given to workflow.GetVersion, each with its
// newest version; stages name theirs in package steps. An older program takes over no workflow that has passed a change unknown to it
// (worker.Versions).
func Changes() map[string]int {
	out := map[string]int{
		"bounded-end-of-hosts":      1,
		"end-after-reset":           1,
		"failed-checks":             1,
		"hold-hosts-from-the-start": 1,
		"hosts-ahead":               1,
		"look-after-reset":          1,
		"readable":                  3,
		"refuse-signals":            1,
		"replace-lost-hosts":        1,
		"resolve-release":           1,
		"rows-behind":               1,
		"signals-in-parts":          1,
	}
	for _, change := range steps.Changes() {
		out[change] = 1
	}
	return out
}
