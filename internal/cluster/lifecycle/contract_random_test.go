package lifecycle_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// dice makes facts. Most rules pass and most times are short: a picture in which
// everything fails meets the first row of a table only.
type dice struct{ *rand.Rand }

func (d dice) rarely() bool { return d.IntN(6) == 0 }
func (d dice) evenly() bool { return d.IntN(2) == 0 }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// ages are on both sides of every time-out of docs/reference/state-rules.md, "Time-outs".
var ages = []time.Duration{
	time.Second, 9 * time.Minute, 11 * time.Minute, 16 * time.Minute, 17*time.Minute + 30*time.Second, 19 * time.Minute, 21 * time.Minute,
	29 * time.Minute, 31 * time.Minute, 39 * time.Minute, 41 * time.Minute, 59 * time.Minute, 61 * time.Minute,
	69 * time.Minute, 71 * time.Minute,
	79 * time.Minute, 81 * time.Minute, 89 * time.Minute, 91 * time.Minute, 299 * time.Minute, 301 * time.Minute, 601 * time.Minute,
	23 * time.Hour, 25 * time.Hour,
}

// since returns a time some while ago, now and then none.
func (d dice) since() time.Time {
	if d.IntN(20) == 0 {
		return time.Time{}
	}
	return now.Add(-ages[d.IntN(len(ages))])
}

// results returns the results of a few rules, most of them passed.
func (d dice) results(ids []string) []model.ValidationResult {
	var out []model.ValidationResult
	for _, id := range ids {
		status := model.ValidationSuccess
		if d.IntN(len(ids)) < 2 {
			status = pick(d, model.ValidationFailure, model.ValidationPending, model.ValidationError, model.ValidationDisabled)
		}
		if !d.rarely() {
			out = append(out, model.ValidationResult{ID: id, Status: status, Message: id})
		}
	}
	return out
}

// hostPicture is a host with what v2's table asks of it and ours does not: the workflow
// keeps its time, and decides about it in words of its own.
type hostPicture struct {
	lifecycle.HostFacts
	statusSince, stageSince time.Time
	singleNode, viable      bool
}

// clusterPicture is hostPicture for a cluster.
type clusterPicture struct {
	lifecycle.ClusterFacts
	statusSince, installStarted, stageSince time.Time
	operators                               time.Duration // the longest time-out of its OLM operators
	complete                                bool
}

// often are statuses that many rows are about.
var often = slices.Concat(
	slices.Repeat([]model.HostStatus{model.HostInstallingInProgress}, 12),
	slices.Repeat([]model.HostStatus{model.HostPreparingForInstallation}, 6),
)

func (d dice) host() (model.HostStatus, []model.ValidationResult, hostPicture) {
	results := d.results(hostRuleIDs)
	if d.rarely() {
		results = slices.DeleteFunc(results, func(r model.ValidationResult) bool { return r.ID == "connected" })
		results = append(results, model.ValidationResult{ID: "connected", Status: model.ValidationFailure})
	}
	f := hostPicture{statusSince: d.since(), stageSince: d.since(), singleNode: d.rarely(), viable: d.evenly()}
	f.HostFacts = lifecycle.HostFacts{
		Now: now, Timeouts: d.timeouts(), DayTwo: d.rarely(),
		Role:         pick(d, model.RoleMaster, model.RoleWorker, model.RoleArbiter, model.RoleAutoAssign),
		Stage:        pick(d, append([]model.Stage{"", "Writing image to disk", "Copying registry data to disk"}, hostStages...)...),
		Conditions:   lifecycle.HostConditionsOf(results),
		DiskSpeed:    pick(d, lifecycle.Passed, lifecycle.Passed, lifecycle.Unknown, lifecycle.Failed),
		Images:       pick(d, lifecycle.Passed, lifecycle.Passed, lifecycle.Unknown, lifecycle.Failed),
		LogsTimedOut: d.evenly(), ConnectionTimedOut: d.evenly(), StageTimedOut: d.evenly(),
		ClusterStatus: pick(d, clusterStatuses...),
	}
	return pick(d, append(slices.Clone(often), hostStatuses...)...), results, f
}

func (d dice) cluster() (model.ClusterStatus, []model.ValidationResult, clusterPicture) {
	results := d.results(clusterRuleIDs)
	f := clusterPicture{
		statusSince: d.since(), installStarted: d.since(), stageSince: d.since(),
		operators: pick(d, 0, 0, 90*time.Minute), complete: d.evenly(),
	}
	f.ClusterFacts = lifecycle.ClusterFacts{
		Now: now, Timeouts: d.timeouts(), Conditions: lifecycle.ClusterConditionsOf(results), VIPDHCPAllocation: d.evenly(),
		LogsTimedOut:    d.evenly(),
		FinalizingStage: pick(d, finalizingStages...), FinalizingStageTimedOut: d.evenly(),
		Installing: d.evenly(), Finalizing: d.evenly(), HostPending: d.evenly(),
		AllHostsPrepared: d.evenly(), UnpreparingHosts: d.evenly(), FailedPreparingHosts: d.evenly(), AllHostsDone: d.evenly(),
		PreparationSucceeded: d.evenly(), PreparationFailed: d.evenly(),
	}
	return pick(d, clusterStatuses...), results, f
}

func (d dice) timeouts() lifecycle.Timeouts {
	env := map[string]string{}
	if d.evenly() {
		env["ENABLE_SOFT_TIMEOUTS"] = "true"
	}
	t, err := lifecycle.ParseTimeouts(env)
	if err != nil {
		panic(err) // a constant
	}
	return t
}

var hostStages = []model.Stage{
	model.StageStartingInstallation, model.StageWaitingForControlPlane, model.StageWaitingForBootkube, model.StageWaitingForController,
	model.StageInstalling, model.StageWritingImageToDisk, model.StageCopyingRegistryData, model.StageRebooting,
	model.StageWaitingForIgnition, model.StageConfiguring, model.StageJoined, model.StageDone, model.StageFailed,
}

var finalizingStages = []model.FinalizingStage{
	"", "Waiting for cluster operators", "Adding router ca", "Applying olm manifests", "Waiting for olm operators csv initialization",
	"Waiting for olm operators csv", "Waiting for OLM operator setup jobs", "Done",
}
