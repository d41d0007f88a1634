package discovery

import (
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// failedInWorkflow marks a host whose installation just failed outside its workflow:
// the workflow learns it from its open steps, and until it does the cluster is not
// judged as if the failure were final.
func failedInWorkflow(h *model.Host, cluster model.ClusterStatus, exitCode int, reason string, t *store.Tx) {
	t.FailSteps(h, exitCode, reason)
	if lifecycle.UnderInstallation.Has(cluster) || h.DayTwo() && h.Attempt > 0 {
		h.DecisionOpen = true
	}
}

// validationEvents tells of rules that stopped passing, and of those that pass again.
func validationEvents(before, after []model.ValidationResult, failed, fixed func(model.ValidationResult)) {
	old := make(map[string]model.ValidationStatus, len(before))
	for _, r := range before {
		old[r.ID] = r.Status
	}
	for _, r := range after {
		switch was := old[r.ID]; {
		case was == model.ValidationSuccess && r.Status == model.ValidationFailure:
			failed(r)
		case was == model.ValidationFailure && r.Status == model.ValidationSuccess:
			fixed(r)
		}
	}
}

func hostValidationEvents(h *model.Host, before []model.ValidationResult, t *store.Tx) {
	validationEvents(before, h.Validations, func(r model.ValidationResult) {
		t.Event(events.New(events.HostValidationFailed, lifecycle.AboutHost(h), events.Props{
			"validation_id": r.ID, "failure_message": r.Message,
		}, t.Now()))
	}, func(r model.ValidationResult) {
		t.Event(events.New(events.HostValidationFixed, lifecycle.AboutHost(h), events.Props{"validation_id": r.ID}, t.Now()))
	})
}

func clusterValidationEvents(c *model.Cluster, before []model.ValidationResult, t *store.Tx) {
	validationEvents(before, c.Validations, func(r model.ValidationResult) {
		t.Event(events.New(events.ClusterValidationFailed, lifecycle.AboutCluster(c), events.Props{
			"validation_id": r.ID, "validation_msg": r.Message, "failure_message": r.Message,
		}, t.Now()))
	}, func(r model.ValidationResult) {
		t.Event(events.New(events.ClusterValidationFixed, lifecycle.AboutCluster(c), events.Props{
			"validation_id": r.ID, "validation_msg": r.Message,
		}, t.Now()))
	})
}
