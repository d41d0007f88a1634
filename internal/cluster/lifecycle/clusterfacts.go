package lifecycle

import (
	"slices"
	"time"

	"slipway/internal/model"
)

// ClusterFacts are what the conditions of the cluster table see.
type ClusterFacts struct {
	Now      time.Time
	Timeouts Timeouts

	Conditions        ClusterConditions
	VIPDHCPAllocation bool
	StatusSince       time.Time
	InstallStartedAt  time.Time
	LogsTimedOut      bool

	FinalizingStage         model.FinalizingStage
	FinalizingStageSince    time.Time
	FinalizingStageTimedOut bool // and reported already
	// OperatorTimeout is the longest time-out of the OLM operators.
	OperatorTimeout time.Duration

	// What the hosts add up to.
	Installing           bool // enough hosts install or are installed
	Finalizing           bool // enough hosts are installed
	HostPending          bool // a host waits for its user
	AllHostsPrepared     bool
	UnpreparingHosts     bool // a host is in no state of preparation
	FailedPreparingHosts bool
	AllHostsDone         bool

	PreparationSucceeded, PreparationFailed bool
	// Complete is set when the kubeconfig is whole and the monitored operators are done.
	Complete bool
	// AwaitingRetry is set while the workflow still runs and a failed host may be tried
	// again, or is on its way: the cluster waits for its user instead of failing.
	AwaitingRetry bool
}

// decisionOpen reports whether the workflow of a host waits for a command.
func decisionOpen(hosts []*model.Host) bool {
	return slices.ContainsFunc(hosts, func(h *model.Host) bool { return h.DecisionOpen })
}

// ClusterInput is what NewClusterFacts reads.
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

// Preparation outcomes as the contract names them (last-installation-preparation.status).
const (
	PreparationNotStarted = "not_started"
	PreparationSuccess    = "success"
	PreparationFailed     = "failed"
)

// preparationStatuses are those of a host the cluster prepares.
var preparationStatuses = []model.HostStatus{
	model.HostKnown, model.HostPreparingForInstallation, model.HostPreparingSuccessful, model.HostPreparingFailed,
}

// NewClusterFacts derives the facts of a cluster from what is stored of it and its hosts.
func NewClusterFacts(in ClusterInput) ClusterFacts {
	c, results := in.Cluster, in.Results
	if results == nil {
		results = c.Validations
	}
	f := ClusterFacts{
		Now: in.Now, Timeouts: in.Timeouts.Of(in.Cluster), AwaitingRetry: in.AwaitingRetry || decisionOpen(in.Hosts),
		Conditions:        ClusterConditionsOf(results),
		VIPDHCPAllocation: c.VIPDHCPAllocation,
		StatusSince:       c.StatusUpdatedAt, InstallStartedAt: c.InstallStartedAt,
		LogsTimedOut:            ClusterLogsTimedOut(c, in.Timeouts, in.Now),
		FinalizingStage:         c.Progress.FinalizingStage,
		FinalizingStageSince:    c.Progress.FinalizingStageStartedAt,
		FinalizingStageTimedOut: c.Progress.FinalizingStageTimedOut,
		Installing:              Installing(c, in.Hosts), Finalizing: Finalizable(c, in.Hosts),
		HostPending:          AnyIn(in.Hosts, model.HostInstallingPendingUserAction),
		FailedPreparingHosts: AnyIn(in.Hosts, model.HostPreparingFailed),
		AllHostsDone:         AllDone(in.Hosts),
		PreparationSucceeded: c.LastPreparation.Status == PreparationSuccess,
		PreparationFailed:    c.LastPreparation.Status == PreparationFailed,
		Complete:             !c.IngressCertAt.IsZero() && operatorsDone(in.Operators),
	}
	f.AllHostsPrepared = len(in.Hosts) > 0 && !slices.ContainsFunc(in.Hosts, func(h *model.Host) bool {
		return h.Status != model.HostPreparingSuccessful
	})
	f.UnpreparingHosts = slices.ContainsFunc(in.Hosts, func(h *model.Host) bool {
		return !slices.Contains(preparationStatuses, h.Status)
	})
	for _, o := range in.Operators {
		if o.Type == OperatorTypeOLM {
			f.OperatorTimeout = max(f.OperatorTimeout, o.Timeout)
		}
	}
	return f
}

// Operator types of the contract.
const (
	OperatorTypeBuiltin = "builtin"
	OperatorTypeOLM     = "olm"
)

// operatorsDone wants builtin operators available; OLM ones may have failed, which
// leaves the cluster degraded but installed.
func operatorsDone(operators []model.MonitoredOperator) bool {
	for _, o := range operators {
		switch o.Status {
		case model.OperatorAvailable:
		case model.OperatorFailed:
			if o.Type != OperatorTypeOLM {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// FinalizingStageTimeout is how long the cluster may be in its finalizing stage.
func (f *ClusterFacts) FinalizingStageTimeout() time.Duration {
	return f.Timeouts.FinalizingStage(f.FinalizingStage, f.OperatorTimeout)
}
