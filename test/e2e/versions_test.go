package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/testing/await"
	"slipway/worker"
	"slipway/workflows"
)

// quick looks often: the usual pace waits for a roll that takes minutes.
var quick = worker.Pace{
	First: 10 * time.Millisecond, Look: 100 * time.Millisecond,
	Gone: time.Second, Silent: 70 * time.Second, // a live worker polls again within a minute
}

// marker is a change that build 2 of installations has, and build 1 does not know.
const marker = "change-of-build-2"

// roll is a Temporal server and what the workers of each build have done on it.
type roll struct {
	client.Client

	mu   sync.Mutex
	runs []string
	log  bytes.Buffer
}

// Write adds to the log of all workers.
func (r *roll) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(text)
}

func (r *roll) logged(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.log.String(), text)
}

// note records which build continued an installation, and the way it went.
func (r *roll) note(build, way string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, build+" "+way)
}

func (r *roll) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.runs
	r.runs = nil
	return taken
}

// installation makes a workflow that goes one step with each signal, until the signal "end"; from build 2 on all steps but
// "before" go another way, behind a marker.
func (r *roll) installation(build string, marked bool) func(workflow.Context) (string, error) {
	return func(ctx workflow.Context) (string, error) {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		for steps := workflow.GetSignalChannel(ctx, "step"); ; {
			var step string
			steps.Receive(ctx, &step)
			way := "old"
			if marked && step != "before" && workflow.GetVersion(ctx, marker, workflow.DefaultVersion, 1) >= 1 {
				way = "new"
			}
			if !workflow.IsReplaying(ctx) {
				r.note(build, way)
			}
			if way == "new" { // a command that the old way does not give
				if err := workflow.ExecuteLocalActivity(ctx, nothing).Get(ctx, nil); err != nil {
					return "", err
				}
			}
			if step == "end" {
				return build, nil
			}
		}
	}
}

func nothing(context.Context) error { return nil }

func newRoll(t *testing.T) *roll {
	t.Helper()
	return &roll{Client: devServer(t)}
}

// replica is a worker of one build.
type replica struct {
	sdk.Worker
	stop func()
}

// start runs a worker of build, as the service does, until the test ends or stop is called.
func (r *roll) start(t *testing.T, build string, marked bool) *replica {
	t.Helper()
	c, err := client.NewClientFromExistingWithContext(t.Context(), r.Client, client.Options{Identity: build + " " + time.Now().String()})
	require.NoError(t, err)
	w := worker.New(c, worker.Dependencies{
		Clusters: &activities.Clusters{}, Hosts: &activities.Hosts{}, Steps: &activities.Steps{}, Files: &activities.Files{},
		Housekeeping: &activities.Housekeeping{}, Control: &activities.Control{},
	}, build)
	w.RegisterWorkflowWithOptions(r.installation(build, marked), workflow.RegisterOptions{Name: "installation"})
	versions := worker.NewVersions(c, build, slog.New(slog.NewTextHandler(io.MultiWriter(r, t.Output()), nil)), time.Now)
	versions.Pace = quick
	if marked {
		versions.Changes[marker] = 1
	}
	require.NoError(t, versions.Check(t.Context()))
	require.NoError(t, w.Start())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		versions.Run(ctx)
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		<-done
		w.Stop()
	})
	t.Cleanup(stop)
	return &replica{Worker: w, stop: stop}
}

// begin starts an installation.
func (r *roll) begin(t *testing.T, id string) client.WorkflowRun {
	t.Helper()
	run, err := r.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, "installation")
	require.NoError(t, err)
	return run
}

// step lets an installation take one step, and returns which build took it which way.
func (r *roll) step(t *testing.T, id, step string) string {
	t.Helper()
	r.taken()
	require.NoError(t, r.SignalWorkflow(t.Context(), id, "", "step", step))
	var taken []string
	await.True(t, func() bool {
		taken = append(taken, r.taken()...)
		return len(taken) > 0
	}, "the installation continues")
	require.Len(t, taken, 1)
	return taken[0]
}

func (r *roll) current(t *testing.T) string {
	t.Helper()
	d, err := r.WorkerDeploymentClient().GetHandle("slipway").Describe(t.Context(), client.WorkerDeploymentDescribeOptions{})
	var none *serviceerror.NotFound
	if err != nil {
		require.ErrorAs(t, err, &none)
		return ""
	}
	if d.Info.RoutingConfig.CurrentVersion == nil {
		return ""
	}
	return d.Info.RoutingConfig.CurrentVersion.BuildID
}

func (r *roll) awaitCurrent(t *testing.T, build string) {
	t.Helper()
	await.True(t, func() bool { return r.current(t) == build }, build+" becomes current")
}

// stays checks for a while that build stays current.
func (r *roll) stays(t *testing.T, build string) {
	t.Helper()
	for end := time.Now().Add(20 * quick.Look); time.Now().Before(end); time.Sleep(quick.Look) {
		require.Equal(t, build, r.current(t))
	}
}

const (
	build1 = "0.1.0+1"
	build2 = "0.1.0+2"
)

func TestTemporalRollsWorkersOfTwoBuilds(t *testing.T) {
	t.Parallel()
	r := newRoll(t)
	first := r.start(t, build1, false)
	r.awaitCurrent(t, build1)
	run := r.begin(t, "one")
	require.Equal(t, build1+" old", r.step(t, "one", "before"))

	r.start(t, build2, true)
	r.awaitCurrent(t, build2)
	for i := range 20 {
		require.Equal(t, build2+" new", r.step(t, "one", fmt.Sprint(i)), "both builds poll; the older knows no marker")
	}
	r.begin(t, "two")
	require.Equal(t, build2+" new", r.step(t, "two", "go"), "a new installation")

	first.stop()
	r.start(t, build1, false)
	r.stays(t, build2)
	require.Equal(t, build2+" new", r.step(t, "one", "end"), "the older build was started again")
	var by string
	require.NoError(t, run.Get(await.Context(t), &by))
	require.Equal(t, build2, by)
}

// The web UI has buttons for it, and the command line commands.
func TestTemporalRefusesToChooseAVersionByHand(t *testing.T) {
	t.Parallel()
	r := newRoll(t)
	r.start(t, build1, false)
	r.awaitCurrent(t, build1)
	r.start(t, build2, true)
	r.awaitCurrent(t, build2)
	by := r.WorkerDeploymentClient().GetHandle("slipway")
	_, err := by.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build1})
	require.ErrorContains(t, err, "slipway")
	_, err = by.SetRampingVersion(t.Context(), client.WorkerDeploymentSetRampingVersionOptions{BuildID: build1, Percentage: 50})
	require.ErrorContains(t, err, "slipway")
	r.stays(t, build2)
}

func TestTemporalContinuesWhatUnversionedWorkersBegan(t *testing.T) {
	t.Parallel()
	r := newRoll(t)
	before := sdk.New(r.Client, workflows.TaskQueue, sdk.Options{})
	before.RegisterWorkflowWithOptions(r.installation("unversioned", false), workflow.RegisterOptions{Name: "installation"})
	require.NoError(t, before.Start())
	stop := sync.OnceFunc(before.Stop)
	t.Cleanup(stop)
	run := r.begin(t, "one")
	require.Equal(t, "unversioned old", r.step(t, "one", "go"))

	r.start(t, build1, false)
	r.awaitCurrent(t, build1)
	require.Equal(t, build1+" old", r.step(t, "one", "go"), "the unversioned worker still polls")
	stop()
	require.Equal(t, build1+" old", r.step(t, "one", "end"))
	require.NoError(t, run.Get(await.Context(t), nil))
}

func TestTemporalContinuesAtOnceWhereOneBuildReplacesAnother(t *testing.T) {
	t.Parallel()
	r := newRoll(t)
	first := r.start(t, build1, false)
	r.awaitCurrent(t, build1)
	r.begin(t, "one")
	require.Equal(t, build1+" old", r.step(t, "one", "before"))
	first.stop()

	require.NoError(t, r.SignalWorkflow(t.Context(), "one", "", "step", "while no worker runs"))
	begun := time.Now()
	r.start(t, build2, true)
	await.True(t, func() bool { return len(r.taken()) > 0 })
	t.Logf("continued %s after the start of the newer build", time.Since(begun).Round(time.Millisecond))
	require.Equal(t, build2+" new", r.step(t, "one", "end"))
}

func TestTemporalGoesBackToAnOlderBuildThatKnowsEveryChange(t *testing.T) {
	t.Parallel()
	r := newRoll(t)
	second := r.start(t, build2, true)
	r.awaitCurrent(t, build2)
	r.begin(t, "waits")
	r.begin(t, "marked")
	require.Equal(t, build2+" new", r.step(t, "marked", "go"))
	r.start(t, build1, false)
	r.stays(t, build2)

	second.stop()
	await.True(t, func() bool { return r.logged(`this older one cannot continue its workflows`) })
	require.True(t, r.logged(`[marked (change-of-build-2-1)]`), "the log names the workflow and the change")
	require.Equal(t, build2, r.current(t))

	require.NoError(t, r.TerminateWorkflow(t.Context(), "marked", "", "test"))
	r.awaitCurrent(t, build1)
	require.Equal(t, build1+" old", r.step(t, "waits", "end"), "no running workflow has passed the change any more")
}
