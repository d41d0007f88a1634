package lifecycle

import (
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
)

// clusterEffects maps effects to their changes of a cluster that left a status.
var clusterEffects = map[Effect]func(c *model.Cluster, from model.ClusterStatus, f *ClusterFacts, rec Recorder){
	EffectLogsTimedOut: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, _ Recorder) {
		c.LogsInfo = model.LogsTimeout
	},
	EffectStageTimedOut: func(c *model.Cluster, _ model.ClusterStatus, f *ClusterFacts, rec Recorder) {
		c.Progress.FinalizingStageTimedOut = true
		rec.Event(events.New(events.FinalizingStageTimedOut, AboutCluster(c), events.Props{
			"stage": string(f.FinalizingStage), "minutes": int64(f.Limit / time.Minute),
		}, rec.Now()))
	},
	EffectPrepared: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, rec Recorder) {
		c.InstallAttempt++
		c.ReleaseComponents, c.WorkflowStarted = nil, false
		c.ReleasePullSpec, c.ReleaseVerdict = "", model.ReleaseVerdict{} // its tag can lead elsewhere than for the attempt before
		c.LastPreparation = model.Preparation{Status: PreparationNotStarted}
		c.Progress = model.ClusterProgress{}
		c.Completion, c.InstallStartedAt = nil, rec.Now()
		rec.Event(events.New(events.ClusterPrepareInstallationStarted, AboutCluster(c), nil, rec.Now()))
	},
	EffectPreparationFailed: func(c *model.Cluster, _ model.ClusterStatus, f *ClusterFacts, rec Recorder) {
		preparationFailed(c, f, rec)
	},
	EffectFailed: func(c *model.Cluster, from model.ClusterStatus, _ *ClusterFacts, rec Recorder) {
		if from == model.ClusterFinalizing {
			c.Progress.FinalizingStageTimedOut = true
		}
		rec.Event(events.New(events.ClusterInstallationFailed, AboutCluster(c), events.Props{"failure_reason": c.StatusInfo}, rec.Now()))
	},
	EffectCompleted: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, rec Recorder) {
		c.InstallCompletedAt = rec.Now()
		c.Progress.Finalizing, c.Progress.Installing, c.Progress.Preparing, c.Progress.Total = whole, whole, whole, whole
		c.Progress.FinalizingStage = model.FinalizingDone
		rec.Event(events.New(events.ClusterInstallationCompleted, AboutCluster(c), nil, rec.Now()))
	},
	EffectResumed: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, rec Recorder) {
		if c.Completion != nil && !c.Completion.Success {
			c.Completion = nil // the controller reports again
		}
		c.Progress.FinalizingStageTimedOut = false
		if !c.Progress.FinalizingStageStartedAt.IsZero() {
			c.Progress.FinalizingStageStartedAt = rec.Now()
		}
	},
	EffectCancelled: func(c *model.Cluster, from model.ClusterStatus, f *ClusterFacts, rec Recorder) {
		if from == model.ClusterPreparingForInstallation {
			preparationFailed(c, f, rec)
		}
		c.DecisionOpen, c.WorkflowStarted, c.InstallCompletedAt = false, true, rec.Now()
		rec.Event(events.New(events.ClusterInstallationCanceled, AboutCluster(c), nil, rec.Now()))
	},
	EffectReset: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, rec Recorder) {
		forgetInstallation(c)
		rec.Event(events.New(events.ClusterInstallationReset, AboutCluster(c), nil, rec.Now()))
	},
	EffectForgotten: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, _ Recorder) { forgetInstallation(c) },
	EffectOpened: func(c *model.Cluster, _ model.ClusterStatus, _ *ClusterFacts, _ Recorder) {
		c.Kind = model.KindAddHostsCluster
		c.NetworkGeneration++ // its hosts are asked other things than before
	},
}

// forgetInstallation removes the results of an installation from a cluster.
func forgetInstallation(c *model.Cluster) {
	c.Progress, c.LastPreparation = model.ClusterProgress{}, model.Preparation{}
	c.InstallStartedAt, c.InstallCompletedAt, c.IngressCertAt = time.Time{}, time.Time{}, time.Time{}
	c.Completion, c.LogsInfo, c.WorkflowStarted = nil, model.LogsNone, true
}

// preparationFailed takes a cluster that prepared back to discovery.
func preparationFailed(c *model.Cluster, f *ClusterFacts, rec Recorder) {
	c.WorkflowStarted = true
	c.LastPreparation = model.Preparation{Status: PreparationFailed, Reason: f.Reason}
	rec.Event(events.New(events.PrepareInstallationFailed, AboutCluster(c), events.Props{"error": f.Reason}, rec.Now()))
}
