package controller

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// timedOutInfo is the report about an OLM operator that was not available in time
// (docs/reference/controller.md, "Failed operators").
const timedOutInfo = "Waiting for operator timed out"

// finalizingStep is the work of one finalizing stage. work returns the actions to take now and whether the next
// stage is entered after them.
type finalizingStep struct {
	stage model.FinalizingStage
	work  func(State) (do []Action, done bool)
}

// finalizingSteps are in the order of docs/reference/controller.md, "Finalizing". The stage the service shows
// is the only record of the progress.
var finalizingSteps = []finalizingStep{
	{model.FinalizingWaitingForOperators, func(s State) ([]Action, bool) { return nil, builtinsAvailable(s) }},
	{model.FinalizingAddingRouterCA, addRouterCA},
	{model.FinalizingWaitingForCSVInit, func(s State) ([]Action, bool) { return nil, olmStarted(s) || s.Cluster.StageTimedOut }},
	{model.FinalizingApplyingOLMManifests, applyManifests},
	{model.FinalizingWaitingForCSV, settleOLM},
	{model.FinalizingWaitingForOperatorSetup, func(s State) ([]Action, bool) { return nil, setUp(s) || s.Cluster.StageTimedOut }},
	{model.FinalizingDone, complete},
}

// missingSteps returns the actions of the present finalizing stage, and the entry into the next. A
// cluster in no stage, or in one not known here, enters the first.
func missingSteps(s State) []Action {
	for i, step := range finalizingSteps {
		if step.stage != s.Cluster.Stage {
			continue
		}
		do, done := step.work(s)
		if done && i+1 < len(finalizingSteps) {
			do = append(do, EnterStage{Stage: finalizingSteps[i+1].stage})
		}
		return do
	}
	return []Action{EnterStage{Stage: finalizingSteps[0].stage}}
}

func addRouterCA(s State) ([]Action, bool) {
	if s.IngressCA == "" {
		return nil, false
	}
	return []Action{UploadIngressCA{PEM: s.IngressCA}}, true
}

// applyManifests applies the late manifests, unless the service gave up waiting for it: manifests that cannot
// be applied must not keep a cluster from being installed.
func applyManifests(s State) ([]Action, bool) {
	if s.Cluster.StageTimedOut {
		return nil, true
	}
	return []Action{ApplyManifests{}}, true
}

func settleOLM(s State) ([]Action, bool) {
	waiting := unsettled(s)
	if !s.Cluster.StageTimedOut {
		return nil, len(waiting) == 0
	}
	var actions []Action
	for _, o := range waiting {
		actions = append(actions, ReportOperator{Report: wire.OperatorMonitorReport{
			Name: o.Name, Status: wire.OperatorStatusFailed, StatusInfo: timedOutInfo, Version: o.Version,
		}})
	}
	return actions, true
}

func complete(s State) ([]Action, bool) {
	var actions []Action
	if !s.LastLogsSent {
		actions = append(actions, SendLogs{Last: true})
	}
	if !s.Completed {
		actions = append(actions, Complete{})
	}
	return actions, false
}
