package workflows

// Changes lists the changes of workflows that a running installation can notice: the names given to workflow.GetVersion, each with its
// newest version. An older program takes over no workflow that has passed a change unknown to it (worker.Versions).
func Changes() map[string]int {
	return map[string]int{
		"bounded-end-of-hosts":      1,
		"end-after-reset":           1,
		"failed-checks":             1,
		"hold-hosts-from-the-start": 1,
		"look-after-reset":          1,
		"readable":                  3,
		"refuse-signals":            1,
		"replace-lost-hosts":        1,
	}
}
