package controller

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// clusterVersionOperator is the name under which the service knows the cluster version.
const clusterVersionOperator = "cvo"

// missingOperatorReports reports the operators whose state in the cluster is not the
// one the service knows.
func missingOperatorReports(s State) []Action {
	var actions []Action
	for _, known := range s.Monitored {
		found, exists := s.Operators[known.Name]
		if !exists || givenUp(known, found) {
			continue
		}
		report := wire.OperatorMonitorReport{
			Name: known.Name, Status: wire.OperatorStatus(found.Status), StatusInfo: found.Info, Version: found.Version,
		}
		if report.Status != known.Status || report.StatusInfo != known.StatusInfo || report.Version != known.Version {
			actions = append(actions, ReportOperator{Report: report})
		}
	}
	return actions
}

// givenUp: an OLM operator was reported failed because its time was over; it stays so unless it becomes
// available after all.
func givenUp(known wire.MonitoredOperator, found Operator) bool {
	return known.StatusInfo == timedOutInfo && found.Status != model.OperatorAvailable
}

// builtinsAvailable: the service knows all operators of the platform to be available.
func builtinsAvailable(s State) bool {
	return !slices.ContainsFunc(s.Monitored, func(o wire.MonitoredOperator) bool {
		skipped := o.Name == clusterVersionOperator && !s.CheckClusterVersion
		return o.OperatorType != wire.Olm && !skipped && o.Status != wire.OperatorStatusAvailable
	})
}

// unsettled lists the OLM operators the service knows to be neither available nor failed.
func unsettled(s State) []wire.MonitoredOperator {
	var waiting []wire.MonitoredOperator
	for _, o := range s.Monitored {
		if o.OperatorType == wire.Olm && o.Status != wire.OperatorStatusAvailable && o.Status != wire.OperatorStatusFailed {
			waiting = append(waiting, o)
		}
	}
	return waiting
}

// olmStarted: every OLM operator exists in the cluster.
func olmStarted(s State) bool {
	return !slices.ContainsFunc(s.Monitored, func(o wire.MonitoredOperator) bool {
		_, exists := s.Operators[o.Name]
		return o.OperatorType == wire.Olm && !exists
	})
}
