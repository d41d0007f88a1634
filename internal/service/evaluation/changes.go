package evaluation

import (
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// validationEvents reports rules that stopped passing, and rules that pass again.
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
