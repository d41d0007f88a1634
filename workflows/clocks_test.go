package workflows_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"
)

func TestStageThatTakesTooLongStopsItsHostOnlyWithHardTimeouts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		soft   bool
		again  int // how often the stage gets its time once more
		judged int
		failed int
	}{
		"hard: it waits for a decision":               {judged: 1, failed: 1},
		"hard, while another host waits for its user": {again: 2, judged: 3, failed: 1},
		"soft: it is reported once and continues":     {soft: true, judged: 1},
		"soft, while another host waits for its user": {soft: true, again: 1, judged: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(1, 0)
			w.plan.Timeouts.Soft = tt.soft
			w.blocked["master-0 bootkube-wait"] = true
			for range tt.again {
				w.fails["again"] = append(w.fails["again"], errors.New("again"))
			}
			env := environment(t, w)
			env.RegisterDelayedCallback(func() {
				if tt.failed > 0 {
					delete(w.blocked, "master-0 bootkube-wait")
					h := w.plan.Hosts[0]
					require.NoError(t, env.SignalWorkflowByID(workflows.HostWorkflowID(h.InfraEnvID, h.ID), workflows.CommandRetryStep, nil))
					return
				}
				w.release(t, env, "master-0 bootkube-wait")
			}, 10*time.Hour)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, env.GetWorkflowError())
			lines := w.lines()
			require.Equal(t, tt.judged, count(lines, "master-0 takes more than 1h0m0s"))
			require.Equal(t, tt.failed, count(lines, "master-0 failed: Waiting for bootkube: the stage took too long"))
			require.Equal(t, "complete", lines[len(lines)-1])
		})
	}
}

func TestInstallationThatTakesTooLongWaitsForACommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		soft, needed bool
		stalls       int
	}{
		"soft":                              {soft: true, stalls: 1},
		"hard, while it waits for its user": {needed: true, stalls: 1},
		"hard, while it is running":         {stalls: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(1, 0)
			w.plan.Timeouts.Soft = tt.soft
			w.plan.Timeouts.Stages[model.StageWaitingForBootkube] = 100 * time.Hour
			w.blocked["user"] = !tt.needed
			if tt.needed {
				delete(w.blocked, "user")
			}
			w.blocked["master-0 bootkube-wait"] = true
			env := environment(t, w)
			env.RegisterDelayedCallback(func() {
				require.Equal(t, tt.stalls, count(w.lines(), "cluster failed: the installation took more than 24h0m0s"))
				w.release(t, env, "master-0 bootkube-wait")
			}, 25*time.Hour)
			env.RegisterDelayedCallback(func() {
				if tt.stalls > 0 {
					require.Equal(t, 0, count(w.lines(), "milestone operators-available"), "nothing new begins while the cluster is stopped")
					require.Equal(t, 1, count(w.lines(), "master-0 reached Done"), "what is under way continues")
				}
				env.SignalWorkflow(workflows.CommandExtend, nil)
			}, 30*time.Hour)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, tt.stalls, count(w.lines(), "resume"))
			require.Equal(t, "complete", w.lines()[len(w.lines())-1])
		})
	}
}

func TestInstallationThatNobodyExtendsEndsWithTheReason(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Timeouts.Soft = true
	w.blocked["master-0 bootkube-wait"] = true
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.ErrorContains(t, env.GetWorkflowError(), "the installation took more than 24h0m0s")
	require.Equal(t, 2, count(w.lines(), "cluster failed: the installation took more than 24h0m0s"), "first it waits, then it is over")
}

func TestFinalizingHasOneClockForAllOfIt(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.blocked["milestone completion"] = true
	env := environment(t, w)
	for _, at := range []time.Duration{6 * time.Hour, 12 * time.Hour} {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandExtend, nil) }, at)
	}
	env.RegisterDelayedCallback(func() { w.release(t, env, "milestone completion") }, 13*time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, count(w.lines(), "cluster failed: finalizing took more than 5h0m0s"), "each extension gives the whole time once more")
	require.Equal(t, "complete", w.lines()[len(w.lines())-1])
}

func TestFinalizingStagesHaveClocksOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage  activities.FinalizingStage
		soft   bool
		limit  time.Duration
		with   error // late without
		stalls int
	}{
		"one that may not fail": {stage: activities.FinalizingStage{Stage: model.FinalizingApplyingOLMManifests}, limit: 10 * time.Minute},
		"one that fails the installation": {
			stage: activities.FinalizingStage{Stage: model.FinalizingAddingRouterCA}, limit: 70 * time.Minute, stalls: 1,
		},
		"one that would, with soft limits": {
			stage: activities.FinalizingStage{Stage: model.FinalizingAddingRouterCA}, soft: true, limit: 70 * time.Minute,
		},
		"one whose last try failed": {
			stage: activities.FinalizingStage{Stage: model.FinalizingApplyingOLMManifests}, limit: 10 * time.Minute,
			with: errors.New("the database is away"),
		},
		"one that waits for slow operators": {
			stage: activities.FinalizingStage{Stage: model.FinalizingWaitingForCSV, Operators: 2 * time.Hour}, limit: 2 * time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(1, 0)
			w.plan.Timeouts.Soft = tt.soft
			w.stages = []activities.FinalizingStage{tt.stage}
			w.blocked["milestone completion"] = true
			left := "left " + string(tt.stage.Stage)
			w.blocked[left] = true
			env := environment(t, w)
			env.RegisterDelayedCallback(func() { require.Equal(t, tt.limit, w.timeOut(t, env, left, cmp.Or(tt.with, late))) }, tt.limit)
			env.RegisterDelayedCallback(func() {
				require.Equal(t, 1, count(w.lines(), fmt.Sprintf("%s took %s", tt.stage.Stage, tt.limit)))
				require.Equal(t, tt.stalls, count(w.lines(), "cluster failed: the finalizing stage took too long"))
				if tt.stalls == 0 {
					require.Greater(t, w.limits[left], 365*24*time.Hour, "it is awaited without a limit")
				}
				delete(w.blocked, left)
				env.SignalWorkflow(workflows.CommandExtend, nil)
			}, 3*time.Hour)
			env.RegisterDelayedCallback(func() { w.release(t, env, "milestone completion") }, 4*time.Hour)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, tt.stalls, count(w.lines(), "resume"))
		})
	}
}
