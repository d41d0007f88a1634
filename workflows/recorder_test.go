package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/workflows"

	enumspb "go.temporal.io/api/enums/v1"
)

// recorder stands in for the database and the hosts: its methods have the names of the
// activities, and it writes down what it was asked for, in order.
type recorder struct {
	mu     sync.Mutex
	plan   activities.Plan
	log    []string
	fails  map[string][]error // "worker-0 image-write" -> one error a call, then success
	status model.ClusterStatus
	done   map[uuid.UUID]bool
	// installing is closed when a v2 host has got its step: it reports stages only then.
	installing map[uuid.UUID]chan struct{}
	// stages are the finalizing stages that the controller reports, one after the other.
	stages []activities.FinalizingStage
	// blocked are activities whose answer a test gives, tokens the activities that wait for it.
	blocked map[string]bool
	// stands is the stage of a host whose workflow was lost.
	stands model.Stage
	// ahead are the hosts that report from their disks while their workflows wait for a decision.
	ahead map[string]bool
	// behind is how many reviews find rows that were restored from an older backup.
	behind int
	// rebooted is set when hosts have booted before they are waited for.
	rebooted bool
	// report is how the validations of the cluster stand.
	report activities.ValidationReport
	tokens map[string][]byte
	limits map[string]time.Duration // of pending activities
	// boots are how long it takes until a stage is reported, "worker-0 Configuring".
	boots map[string]time.Duration
	// failed is called when a host has been marked as failed, before its workflow hears of it.
	failed func(activities.HostFailure)
	needed string // the host that the cluster cannot come up without
}

func hosts(masters, workers int, agentSteps model.AgentSteps) []activities.HostPlan {
	var list []activities.HostPlan
	for i := range masters {
		list = append(list, activities.HostPlan{
			ID: uuid.New(), InfraEnvID: uuid.New(), Name: fmt.Sprintf("master-%d", i), Role: model.RoleMaster, Bootstrap: i == 0,
			AgentSteps: agentSteps,
		})
	}
	for i := range workers {
		list = append(list, activities.HostPlan{
			ID: uuid.New(), InfraEnvID: uuid.New(), Name: fmt.Sprintf("worker-%d", i), Role: model.RoleWorker, AgentSteps: agentSteps,
		})
	}
	return list
}

func newRecorder(masters, workers int) *recorder {
	return &recorder{
		plan: activities.Plan{
			ClusterID: uuid.New(), Attempt: 1, SingleNode: masters == 1, Hosts: hosts(masters, workers, model.FineSteps),
			Timeouts: activities.Timeouts{Timeouts: lifecycle.DefaultTimeouts(), Decision: 24 * time.Hour, Heartbeat: 3 * time.Minute},
		},
		blocked: map[string]bool{"user": true}, tokens: map[string][]byte{}, limits: map[string]time.Duration{},
		fails: map[string][]error{}, status: model.ClusterInstalling, done: map[uuid.UUID]bool{}, installing: map[uuid.UUID]chan struct{}{},
	}
}

func (w *recorder) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *recorder) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

func (w *recorder) name(id uuid.UUID) string {
	for _, h := range w.plan.Hosts {
		if h.ID == id {
			return h.Name
		}
	}
	return id.String()
}

func (w *recorder) agentSteps(id uuid.UUID) model.AgentSteps {
	at := slices.IndexFunc(w.plan.Hosts, func(h activities.HostPlan) bool { return h.ID == id })
	return w.plan.Hosts[at].AgentSteps
}

// step returns a channel that is closed once the host has its install step.
func (w *recorder) step(id uuid.UUID) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.installing[id] == nil {
		w.installing[id] = make(chan struct{})
	}
	return w.installing[id]
}

func (w *recorder) begun(id uuid.UUID) {
	ch := w.step(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

func (w *recorder) fail(key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if list := w.fails[key]; len(list) > 0 {
		w.fails[key] = list[1:]
		return list[0]
	}
	return nil
}

func stepFailed(text string) error {
	return temporal.NewNonRetryableApplicationError(text, activities.FailureStep, nil)
}

func interrupted() error {
	return temporal.NewNonRetryableApplicationError("interrupted", activities.FailureInterrupted, nil)
}

// The activities of activities.Clusters.

func (w *recorder) BeginPreparation(context.Context, activities.InstallRequest) (activities.Plan, error) {
	w.note("freeze")
	return w.plan, w.fail("freeze")
}

func (w *recorder) LookAtInstallation(context.Context, activities.InstallRequest) error {
	return w.fail("look")
}

func (w *recorder) ValidateCluster(context.Context, activities.InstallRequest) (activities.ValidationReport, error) {
	return w.report, nil
}

func (w *recorder) ValidateHost(context.Context, activities.HostRef) (activities.ValidationReport, error) {
	return activities.ValidationReport{}, nil
}

func (w *recorder) ConcludePreparation(_ context.Context, r activities.PreparationConclusion) (activities.PreparationOutcome, error) {
	w.note("conclude %t %s", r.Outcome.Ready, r.Outcome.Reason)
	return r.Outcome, nil
}

func (w *recorder) ReviewInstallation(context.Context, activities.InstallRequest) (activities.Review, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	masters, workers := 0, 0
	if w.behind > 0 && len(w.done) == len(w.plan.Hosts) {
		w.behind--
		w.log = append(w.log, "rows are behind")
		return activities.Review{Status: w.status}, nil
	}
	for _, h := range w.plan.Hosts {
		if w.done[h.ID] && h.Role == model.RoleMaster {
			masters++
		}
		if w.done[h.ID] && h.Role == model.RoleWorker {
			workers++
		}
	}
	if w.status == model.ClusterInstalling && (w.plan.SingleNode && masters == 1 || masters == 3 && workers >= 2) {
		return activities.Review{Status: model.ClusterFinalizing}, nil
	}
	return activities.Review{Status: w.status}, nil
}

func (w *recorder) CompleteInstallation(context.Context, activities.InstallRequest) error {
	w.note("complete")
	return nil
}

func (w *recorder) FailInstallation(_ context.Context, f activities.ClusterFailure) error {
	w.note("cluster failed: %s", f.Reason)
	return nil
}

func (w *recorder) ResumeInstallation(context.Context, activities.InstallRequest) error {
	w.note("resume")
	return nil
}

func (w *recorder) CancelInstallation(context.Context, activities.InstallRequest) error {
	w.note("cancelled")
	return nil
}

func (w *recorder) BeginReset(context.Context, activities.ResetTarget) (activities.ResetPlan, error) {
	w.note("begin reset")
	h := w.plan.Hosts[0]
	stop := []activities.HostRef{{ClusterID: w.plan.ClusterID, InfraEnvID: h.InfraEnvID, HostID: h.ID}}
	return activities.ResetPlan{Stop: stop}, w.fail("begin reset")
}

func (w *recorder) FinishReset(context.Context, activities.ResetTarget) error {
	w.note("finish reset")
	return nil
}

// The activities of activities.Hosts.

func (w *recorder) BeginAttempt(_ context.Context, r activities.AttemptRequest) error {
	w.note("%s begins attempt %d", w.name(r.HostID), r.Attempt)
	return nil
}

func (w *recorder) Standing(_ context.Context, r activities.HostRef) (activities.HostStanding, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return activities.HostStanding{Attempt: 1, Stage: w.stands, Installed: w.done[r.HostID]}, nil
}

func (w *recorder) FailHost(_ context.Context, f activities.HostFailure) error {
	w.note("%s failed: %s", w.name(f.HostID), f.Reason)
	if w.failed != nil {
		w.failed(f)
	}
	return w.fail("fail " + w.name(f.HostID))
}

func (w *recorder) GiveUpHost(_ context.Context, f activities.HostFailure) error {
	w.note("%s given up", w.name(f.HostID))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.needed != "" && w.name(f.HostID) == w.needed {
		w.status = model.ClusterError
	}
	return nil
}

func (w *recorder) RetryHost(_ context.Context, r activities.RetryRequest) error {
	w.note("%s retried, left live image: %t", w.name(r.HostID), r.LeftLiveImage)
	return nil
}

// AwaitProgress ends for the hosts in ahead.
func (w *recorder) AwaitProgress(_ context.Context, r activities.HostRef) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ahead[w.name(r.HostID)] {
		return activity.ErrResultPending
	}
	return nil
}

func (w *recorder) AwaitRediscovery(_ context.Context, r activities.HostRef) error {
	w.note("%s is back in the live image", w.name(r.HostID))
	return nil
}

func (w *recorder) ShowStage(_ context.Context, r activities.StageRequest) error {
	w.note("%s shows %s", w.name(r.HostID), r.Stage)
	return nil
}

func (w *recorder) RebootTimedOut(_ context.Context, r activities.HostRef) error {
	w.note("%s asks for the boot order", w.name(r.HostID))
	return nil
}

// The activities of activities.Steps and activities.Files.

func (w *recorder) RunStep(ctx context.Context, r activities.StepRequest) (activities.StepResult, error) {
	w.note("%s %s", w.name(r.HostID), r.Type)
	if r.Type == "install" {
		w.begun(r.HostID)
	}
	if err := w.pending(ctx, w.name(r.HostID)+" "+r.Type); err != nil {
		return activities.StepResult{}, err
	}
	return activities.StepResult{StepID: r.Type}, w.fail(w.name(r.HostID) + " " + r.Type)
}

func (w *recorder) AwaitStage(ctx context.Context, r activities.StageRequest) (activities.StepResult, error) {
	if w.agentSteps(r.HostID) == model.InstallStep {
		<-w.step(r.HostID)
	}
	if err := w.boot(ctx, w.name(r.HostID)+" "+string(r.Stage)); err != nil {
		return activities.StepResult{}, err
	}
	if err := w.fail(w.name(r.HostID) + " " + string(r.Stage)); err != nil {
		return activities.StepResult{}, err
	}
	if r.Stage == model.StageRebooting && !w.rebooted && w.agentSteps(r.HostID) == model.FineSteps {
		return activities.StepResult{}, activity.ErrResultPending // hosts are watched for it at the gate, and reboot after that
	}
	w.note("%s reached %s", w.name(r.HostID), r.Stage)
	if r.Stage == model.StageDone {
		w.mu.Lock()
		w.done[r.HostID] = true
		w.mu.Unlock()
	}
	return activities.StepResult{}, nil
}

// boot lets the time of a boot pass on a clock of its own; what waits for longer than it may times out.
func (w *recorder) boot(ctx context.Context, what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	info := activity.GetInfo(ctx)
	if limit := info.Deadline.Sub(info.StartedTime); w.boots[what] > limit {
		w.boots[what] -= limit
		return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil)
	}
	return nil
}

func (w *recorder) AwaitMilestone(ctx context.Context, r activities.MilestoneRequest) (activities.StepResult, error) {
	w.note("milestone %s", r.Milestone)
	if err := w.pending(ctx, "milestone "+string(r.Milestone)); err != nil {
		return activities.StepResult{}, err
	}
	return activities.StepResult{}, w.fail("milestone " + string(r.Milestone))
}

func (w *recorder) WasSent(context.Context, activities.StepRequest) (bool, error) { return true, nil }

func (w *recorder) ResolveRelease(context.Context, activities.InstallRequest) error {
	return w.fail("resolve")
}

func (w *recorder) ExtractInstaller(context.Context, activities.InstallRequest) error {
	return w.fail("extract")
}

func (w *recorder) GenerateIgnition(context.Context, activities.InstallRequest) error {
	w.note("ignition")
	return w.fail("ignition")
}

// The activities of activities.Control.

func (w *recorder) EndHosts(_ context.Context, r activities.HostWorkflows) (activities.HostWorkflows, error) {
	w.note("end %d hosts", len(r.IDs))
	return activities.HostWorkflows{}, w.fail("end")
}

func (w *recorder) CommandCluster(_ context.Context, c activities.ControlCommand) (activities.Controlled, error) {
	w.note("command %s %q %s", c.Name, c.Input.Host, c.Input.Wrong)
	return activities.Controlled{Gone: c.Name == "evict", EndsRun: c.Name == "extend"}, w.fail("command " + c.Name)
}

func (w *recorder) RefuseSignal(_ context.Context, r activities.RefusedSignal) error {
	w.note("refuse %s of %s, which takes %v", r.Name, w.name(r.HostID), r.Takes)
	return nil
}

// environment runs workflows against the recorder, with time skipped.
func environment(t *testing.T, w *recorder) *environ {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := &environ{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	env.SetTestTimeout(await.Limit(t))
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: await.Limit(t)}) // a busy machine meets its second
	env.RegisterWorkflow(workflows.ClusterInstall)
	env.RegisterWorkflow(workflows.HostInstall)
	env.RegisterWorkflow(workflows.ClusterReset)
	env.RegisterWorkflow(workflows.HostAdd)
	env.RegisterWorkflow(workflows.HostReset)
	env.RegisterWorkflow(workflows.HostReclaim)
	env.RegisterWorkflow(workflows.ClusterControl)
	env.RegisterActivity(w)
	return env
}

func (w *recorder) request() workflows.ClusterRequest {
	return workflows.ClusterRequest{InstallRequest: activities.InstallRequest{ClusterID: w.plan.ClusterID, Attempt: 1}}
}

func indexOf(t *testing.T, lines []string, line string) int {
	t.Helper()
	at := slices.Index(lines, line)
	require.GreaterOrEqual(t, at, 0, "%q was not done; done was %q", line, lines)
	return at
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if l == line {
			n++
		}
	}
	return n
}
