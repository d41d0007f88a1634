package worker_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/timestamppb"

	"slipway/worker"
)

const (
	older = "0.1.0+1"
	own   = "0.1.0+2"
	newer = "0.2.0"
)

// frontend is a Temporal with one worker deployment, after service/worker/workerdeployment and
// service/matching/poller_history.go of the server 1.32.1.
type frontend struct {
	client.Client

	disabled     bool
	unregistered bool
	manager      string
	current      string
	routed       string // as the task queues know it
	stuck        bool   // the queues do not learn it
	refuses      error  // of every change

	polled  map[string]func() time.Time // of a listed poller
	running map[string][]string         // changes of running workflows
	changes int
}

func (f *frontend) token() []byte { return []byte(f.manager + " " + f.current) }

func (f *frontend) WorkerDeploymentClient() client.WorkerDeploymentClient { return deployments{f: f} }

type deployments struct {
	client.WorkerDeploymentClient
	f *frontend
}

func (d deployments) GetHandle(string) client.WorkerDeploymentHandle { return handle{f: d.f} }

func (d deployments) List(context.Context, client.WorkerDeploymentListOptions) (client.WorkerDeploymentListIterator, error) {
	if d.f.disabled { // service/frontend/errors.go
		return nil, serviceerror.NewPermissionDenied("Worker Deployment Versions are disabled on this namespace.", "")
	}
	return empty{}, nil
}

type empty struct {
	client.WorkerDeploymentListIterator
}

func (empty) HasNext() bool { return false }

type handle struct {
	client.WorkerDeploymentHandle
	f *frontend
}

func (h handle) Describe(context.Context, client.WorkerDeploymentDescribeOptions) (client.WorkerDeploymentDescribeResponse, error) {
	var d client.WorkerDeploymentDescribeResponse
	if h.f.unregistered {
		return d, serviceerror.NewNotFound("no Worker Deployment found with name 'slipway'; does your Worker Deployment have pollers?")
	}
	if h.f.current != "" {
		d.Info.RoutingConfig.CurrentVersion = &sdk.WorkerDeploymentVersion{DeploymentName: "slipway", BuildID: h.f.current}
	}
	d.Info.ManagerIdentity = h.f.manager
	d.ConflictToken = h.f.token()
	return d, nil
}

func (h handle) SetManagerIdentity(
	_ context.Context, o client.WorkerDeploymentSetManagerIdentityOptions,
) (client.WorkerDeploymentSetManagerIdentityResponse, error) {
	h.f.manager = o.ManagerIdentity
	return client.WorkerDeploymentSetManagerIdentityResponse{ConflictToken: h.f.token()}, nil
}

func (h handle) SetCurrentVersion(
	_ context.Context, o client.WorkerDeploymentSetCurrentVersionOptions,
) (client.WorkerDeploymentSetCurrentVersionResponse, error) {
	var none client.WorkerDeploymentSetCurrentVersionResponse
	if h.f.refuses != nil {
		return none, h.f.refuses
	}
	if string(o.ConflictToken) != string(h.f.token()) {
		return none, serviceerror.NewFailedPrecondition("conflict token mismatch")
	}
	if h.f.manager != "" && h.f.manager != o.Identity {
		return none, serviceerror.NewFailedPrecondition("ManagerIdentity '" + h.f.manager + "' is set and does not match user identity")
	}
	h.f.current = o.BuildID
	if !h.f.stuck {
		h.f.routed = o.BuildID
	}
	h.f.changes++
	return none, nil
}

func (f *frontend) DescribeTaskQueue(context.Context, string, enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	reply := &workflowservice.DescribeTaskQueueResponse{VersioningInfo: &taskqueuepb.TaskQueueVersioningInfo{
		CurrentDeploymentVersion: &deploymentpb.WorkerDeploymentVersion{DeploymentName: "slipway", BuildId: f.routed},
	}}
	for build, polled := range f.polled {
		reply.Pollers = append(reply.Pollers, &taskqueuepb.PollerInfo{
			LastAccessTime:    timestamppb.New(polled()),
			DeploymentOptions: &deploymentpb.WorkerDeploymentOptions{DeploymentName: "slipway", BuildId: build},
		})
	}
	return reply, nil
}

func (f *frontend) ListWorkflow(
	context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	reply := &workflowservice.ListWorkflowExecutionsResponse{}
	for id, changes := range f.running {
		payload, err := converter.GetDefaultDataConverter().ToPayload(changes)
		if err != nil {
			return nil, err
		}
		reply.Executions = append(reply.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution:        &commonpb.WorkflowExecution{WorkflowId: id},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"TemporalChangeVersion": payload}},
		})
	}
	return reply, nil
}

// after runs Versions of own for a time, and returns its log.
func after(t *testing.T, f *frontend, pass time.Duration) string {
	t.Helper()
	var log bytes.Buffer
	v := worker.NewVersions(f, own, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
	v.Changes = map[string]int{"readable": 1, "names": 2}
	ctx, cancel := context.WithTimeout(t.Context(), pass)
	defer cancel()
	v.Run(ctx)
	return log.String()
}

// at returns the end of a poller, a fixed time.
func at(when time.Time) func() time.Time { return func() time.Time { return when } }

func TestAWorkerMakesItsVersionCurrent(t *testing.T) {
	t.Parallel()
	for name, current := range map[string]string{
		"when none is, as after an upgrade from workers without a version": "",
		"when an older one is":                  older,
		"when one without an order is":          "blue",
		"when a candidate of it is":             "0.1.0-rc.1",
		"when one of a build without commit is": "0.1.0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &frontend{current: current, polled: map[string]func() time.Time{current: time.Now}}
				after(t, f, time.Second)
				require.Equal(t, own, f.current)
				require.Equal(t, 1, f.changes)
			})
		})
	}
}

func TestAWorkerLeavesANewerVersionCurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &frontend{current: newer, polled: map[string]func() time.Time{
			newer: func() time.Time { return time.Now().Truncate(time.Minute) }, // a long poll
			own:   time.Now,
		}}
		require.Empty(t, after(t, f, time.Hour))
		require.Equal(t, newer, f.current)
	})
}

func TestAnOlderWorkerContinuesWhereNoNewerOneRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Log("workers of the newer version were stopped, and are not listed any more")
		f := &frontend{current: newer, running: map[string][]string{"cluster:1": {"names-2", "readable-1", "names--1"}}}
		after(t, f, 25*time.Second)
		require.Equal(t, newer, f.current, "one that is started again has the time to poll")
		after(t, f, time.Minute)
		require.Equal(t, own, f.current)

		t.Log("they were killed, and stay listed")
		f = &frontend{current: newer, polled: map[string]func() time.Time{newer: at(time.Now().Add(-30 * time.Second))}}
		after(t, f, 100*time.Second)
		require.Equal(t, newer, f.current, "a long poll takes a minute")
		log := after(t, f, 3*time.Minute)
		require.Equal(t, own, f.current)
		require.Contains(t, log, "no worker of the current version runs: this older one continues")
	})
}

func TestAnOlderWorkerLeavesWorkflowsAloneThatPassedAChangeItLacks(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"names-3", "other-1", "readable", "readable-names-1"} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &frontend{current: newer, running: map[string][]string{"cluster:1": {"readable-1", change}, "cluster:2": {"names-1"}}}
				log := after(t, f, time.Hour)
				require.Equal(t, newer, f.current)
				require.Contains(t, log, "start a worker of the current version")
				require.Contains(t, log, `workflows="[cluster:1 (`+change+`)]"`)
				require.Equal(t, 1, bytes.Count([]byte(log), []byte("\n")), "it says so once")

				delete(f.running, "cluster:1")
				after(t, f, time.Minute)
				require.Equal(t, own, f.current)
			})
		})
	}
}

func TestAVersionThatTemporalDoesNotRegisterIsNamedInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &frontend{unregistered: true}
		require.Empty(t, after(t, f, 5*time.Second), "the first polls take a moment")
		require.Contains(t, after(t, f, time.Minute), "version of this worker is not current yet")
		f.unregistered, f.refuses = false, serviceerror.NewFailedPrecondition("missing task queues")
		require.Contains(t, after(t, f, time.Minute), "missing task queues")
		f.refuses = nil
		after(t, f, time.Second)
		require.Equal(t, own, f.current)
	})
}

func TestAVersionIsCurrentWhenItGetsTheTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &frontend{current: older, routed: older, stuck: true}
		log := after(t, f, time.Minute)
		require.Equal(t, 1, f.changes, "it was chosen once")
		require.Contains(t, log, `msg="version of this worker replaces another" version=0.1.0+2 before=0.1.0+1`)
		require.Contains(t, log, "still routing tasks to it")
		require.NotContains(t, log, `msg="version of this worker is current"`)

		f.routed = own
		require.Contains(t, after(t, f, time.Minute), `msg="version of this worker is current" version=0.1.0+2`)
	})
}

func TestAnOperatorWhoManagesTheVersionsIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &frontend{manager: "operator@site", current: older}
		require.Contains(t, after(t, f, time.Minute), "ManagerIdentity 'operator@site' is set")
		require.Equal(t, older, f.current)
	})
}

func TestAServerWithoutWorkerDeploymentsIsRefused(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	require.EqualError(t, worker.NewVersions(&frontend{disabled: true}, own, log, time.Now).Check(t.Context()),
		"require worker deployments of Temporal (server 1.29.1 or later, system.enableDeploymentVersions): "+
			"Worker Deployment Versions are disabled on this namespace.")
	require.NoError(t, worker.NewVersions(&frontend{unregistered: true}, own, log, time.Now).Check(t.Context()), "the first start")
}
