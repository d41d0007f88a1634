package discovery

import (
	"slices"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func aboutHost(h *model.Host) events.Subject {
	name := h.Hostname()
	if name == "" {
		name = h.ID.String()
	}
	return events.Subject{ClusterID: h.ClusterID, HostID: &h.ID, InfraEnvID: &h.InfraEnvID, HostName: name, Host: h}
}

func aboutCluster(c *model.Cluster) events.Subject {
	return events.Subject{ClusterID: &c.ID, Cluster: c}
}

// moveHost carries a transition out on a host: status, info and the event. An empty
// info keeps the one there is.
func moveHost(h *model.Host, tr lifecycle.HostTransition, t *store.Tx) {
	from := h.Status
	h.Status = tr.To
	if tr.StatusInfo != "" {
		h.StatusInfo = tr.StatusInfo
	}
	if from == h.Status {
		return
	}
	t.Event(events.New(events.HostStatusUpdated, aboutHost(h), events.Props{
		"src_status": string(from), "new_status": string(h.Status), "info": h.StatusInfo,
	}, t.Now()))
}

// moveCluster is moveHost for a cluster.
func moveCluster(c *model.Cluster, tr lifecycle.ClusterTransition, t *store.Tx) {
	from := c.Status
	c.Status = tr.To
	if tr.StatusInfo != "" {
		c.StatusInfo = tr.StatusInfo
	}
	if from == c.Status {
		return
	}
	t.Event(events.New(events.ClusterStatusUpdated, aboutCluster(c), events.Props{
		"cluster_status": string(c.Status), "status_info": c.StatusInfo,
	}, t.Now()))
}

// failedInWorkflow marks a host whose installation just failed outside its workflow:
// the workflow learns it from its open steps, and until it does the cluster is not
// judged as if the failure were final.
func failedInWorkflow(h *model.Host, cluster model.ClusterStatus, exitCode int, reason string, t *store.Tx) {
	t.FailSteps(h, exitCode, reason)
	if slices.Contains(workflowStatuses, cluster) || h.DayTwo() && h.Attempt > 0 {
		h.DecisionOpen = true
	}
}

// workflowStatuses are those of a cluster whose workflow runs and has begun to install.
var workflowStatuses = []model.ClusterStatus{
	model.ClusterInstalling, model.ClusterFinalizing, model.ClusterInstallingPendingUserAction,
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
		t.Event(events.New(events.HostValidationFailed, aboutHost(h), events.Props{
			"validation_id": r.ID, "failure_message": r.Message,
		}, t.Now()))
	}, func(r model.ValidationResult) {
		t.Event(events.New(events.HostValidationFixed, aboutHost(h), events.Props{"validation_id": r.ID}, t.Now()))
	})
}

func clusterValidationEvents(c *model.Cluster, before []model.ValidationResult, t *store.Tx) {
	validationEvents(before, c.Validations, func(r model.ValidationResult) {
		t.Event(events.New(events.ClusterValidationFailed, aboutCluster(c), events.Props{
			"validation_id": r.ID, "validation_msg": r.Message, "failure_message": r.Message,
		}, t.Now()))
	}, func(r model.ValidationResult) {
		t.Event(events.New(events.ClusterValidationFixed, aboutCluster(c), events.Props{
			"validation_id": r.ID, "validation_msg": r.Message,
		}, t.Now()))
	})
}
