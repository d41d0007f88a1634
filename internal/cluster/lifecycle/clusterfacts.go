package lifecycle

import (
	"slices"
	"time"

	"slipway/internal/model"
)

// ClusterFacts is the input of the conditions in the cluster table.
type ClusterFacts struct {
	Now      time.Time
	Timeouts Timeouts

	Kind              model.ClusterKind
	Conditions        ClusterConditions
	VIPDHCPAllocation bool
	LogsTimedOut      bool

	FinalizingStage         model.FinalizingStage
	FinalizingStageTimedOut bool // and reported already
	// FailedOperators are the OLM operators that failed.
	FailedOperators []string

	// Reason is why the event happened, in words for people; Limit the time that is over. The reporter of the event sets them.
	Reason string
	Limit  time.Duration

	// The sums over all hosts.
	Installing           bool // enough hosts install or are installed
	Finalizing           bool // enough hosts are installed
	HostPending          bool // a host waits for its user
	AllHostsPrepared     bool
	UnpreparingHosts     bool // a host is in no state of preparation
	FailedPreparingHosts bool
	HostsResetting       bool // a host is being reset, or has to be booted for it
	AllHostsDone         bool

	PreparationSucceeded, PreparationFailed bool
	// AwaitingRetry is set while the workflow still runs and a failed host may be tried
	// again, or is on its way: the cluster waits for its user instead of failing.
	AwaitingRetry bool
}

// decisionOpen reports whether the workflow of a host waits for a command.
func decisionOpen(hosts []*model.Host) bool {
	return slices.ContainsFunc(hosts, func(h *model.Host) bool { return h.DecisionOpen })
}

// ClusterInput is the input of NewClusterFacts.
type ClusterInput struct {
	Cluster *model.Cluster
	Hosts   []*model.Host
	// Results are the cluster's current validations; those stored with it when nil.
	Results   []model.ValidationResult
	Operators []model.MonitoredOperator
	Timeouts  Timeouts
	// AwaitingRetry is set besides when a host's DecisionOpen is.
	AwaitingRetry bool
	Now           time.Time
}

// Outcomes of a preparation as the API names them (last_installation_preparation.status).
const (
	PreparationNotStarted = "not_started"
	PreparationSuccess    = "success"
	PreparationFailed     = "failed"
)

// NewClusterFacts derives the facts of a cluster from its stored state and its hosts'.
func NewClusterFacts(in ClusterInput) ClusterFacts {
	c, results := in.Cluster, in.Results
	if results == nil {
		results = c.Validations
	}
	f := ClusterFacts{
		Now: in.Now, Timeouts: in.Timeouts.Of(in.Cluster), AwaitingRetry: in.AwaitingRetry || decisionOpen(in.Hosts),
		Kind: c.Kind, Conditions: ClusterConditionsOf(results), VIPDHCPAllocation: c.VIPDHCPAllocation,
		LogsTimedOut:            ClusterLogsTimedOut(c, in.Timeouts, in.Now),
		FinalizingStage:         c.Progress.FinalizingStage,
		FinalizingStageTimedOut: c.Progress.FinalizingStageTimedOut,
		Installing:              Installing(c, in.Hosts), Finalizing: Finalizable(c, in.Hosts),
		HostPending:          AnyIn(in.Hosts, model.HostInstallingPendingUserAction),
		FailedPreparingHosts: AnyIn(in.Hosts, model.HostPreparingFailed),
		HostsResetting:       AnyIn(in.Hosts, model.HostResetting, model.HostResettingPendingUserAction),
		AllHostsDone:         AllDone(in.Hosts),
		PreparationSucceeded: c.LastPreparation.Status == PreparationSuccess,
		PreparationFailed:    c.LastPreparation.Status == PreparationFailed,
	}
	f.AllHostsPrepared = len(in.Hosts) > 0 && !slices.ContainsFunc(in.Hosts, func(h *model.Host) bool {
		return h.Status != model.HostPreparingSuccessful
	})
	f.UnpreparingHosts = slices.ContainsFunc(in.Hosts, func(h *model.Host) bool { return !preparationStatuses.Has(h.Status) })
	for _, o := range in.Operators {
		if o.Type == OperatorTypeOLM && o.Status == model.OperatorFailed {
			f.FailedOperators = append(f.FailedOperators, o.Name)
		}
	}
	return f
}

// Operator types of the API.
const (
	OperatorTypeBuiltin = "builtin"
	OperatorTypeOLM     = "olm"
)

// OperatorsDone reports whether builtin operators are available; OLM operators may have failed, which leaves the cluster degraded but
// installed.
func OperatorsDone(operators []model.MonitoredOperator) bool {
	for _, o := range operators {
		if o.Status != model.OperatorAvailable && (o.Status != model.OperatorFailed || o.Type != OperatorTypeOLM) {
			return false
		}
	}
	return true
}

// OperatorTimeout returns the longest time-out of the OLM operators.
func OperatorTimeout(operators []model.MonitoredOperator) time.Duration {
	var longest time.Duration
	for _, o := range operators {
		if o.Type == OperatorTypeOLM {
			longest = max(longest, o.Timeout)
		}
	}
	return longest
}
