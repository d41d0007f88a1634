package controller

import (
	"slipway/internal/model"
)

// Plan lists what is missing.
type Plan struct {
	// Duties do not depend on each other: all are tried.
	Duties []Action
	// Steps are done in order, and the first that fails ends them until the next round.
	Steps []Action
}

// Missing compares the state found with the state wanted. The same state gives the same plan.
func Missing(s State) Plan {
	var p Plan
	if s.Cluster.Status == model.ClusterError {
		if !s.LastLogsSent {
			p.Steps = append(p.Steps, SendLogs{Last: true, Failed: true})
		}
		return p
	}
	if !s.Announced {
		p.Duties = append(p.Duties, Announce{})
	}
	p.Duties = append(p.Duties, missingApprovals(s)...)
	p.Duties = append(p.Duties, missingConfiguring(s)...)
	p.Duties = append(p.Duties, missingHostReports(s)...)
	// The pool is paused before labels move nodes out of it.
	p.Duties = append(p.Duties, missingPause(s)...)
	p.Duties = append(p.Duties, missingLabels(s)...)
	p.Duties = append(p.Duties, missingUntaints(s)...)
	p.Duties = append(p.Duties, missingMetal(s)...)
	p.Duties = append(p.Duties, missingDNS(s)...)
	p.Duties = append(p.Duties, missingReboots(s)...)
	if s.LogsDue {
		p.Duties = append(p.Duties, SendLogs{})
	}
	if s.Cluster.Status == model.ClusterFinalizing {
		p.Duties = append(p.Duties, missingRepairs(s)...)
		p.Duties = append(p.Duties, missingOperatorReports(s)...)
		p.Steps = missingSteps(s)
	}
	return p
}

// ended reports whether nothing remains to be done for a cluster in this status.
func ended(status model.ClusterStatus) bool {
	switch status {
	case model.ClusterInstalled, model.ClusterCancelled, model.ClusterAddingHosts:
		return true
	}
	return false
}
