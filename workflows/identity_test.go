package workflows_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/workflows"
)

// environ starts workflows under the ids that the service gives them.
type environ struct {
	*testsuite.TestWorkflowEnvironment
	id string // another id; empty: the service's
}

func (e *environ) ExecuteWorkflow(workflow any, args ...any) {
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: cmp.Or(e.id, idOf(args[0]))})
	e.TestWorkflowEnvironment.ExecuteWorkflow(workflow, args...)
}

// idOf returns the id of the workflow that an input is for.
func idOf(input any) string {
	switch r := input.(type) {
	case workflows.ClusterRequest:
		return workflows.ClusterWorkflowID(r.ClusterID)
	case workflows.ControlRequest:
		return workflows.ControlWorkflowID(r.ClusterID)
	case workflows.ResetRequest:
		return workflows.ResetWorkflowID(r.ClusterID)
	case workflows.HostResetRequest:
		return workflows.HostResetWorkflowID(r.InfraEnvID, r.HostID)
	case workflows.HostInstallRequest:
		return workflows.HostWorkflowID(r.Host.InfraEnvID, r.Host.ID)
	case activities.ReclaimRequest:
		return workflows.ReclaimWorkflowID(r.InfraEnvID, r.HostID)
	case activities.AddRequest:
		return workflows.HostWorkflowID(r.InfraEnvID, r.HostID)
	}
	panic(fmt.Sprintf("%T has no id", input))
}

// startHost runs the workflow of a host as its cluster does: as a child.
func (e *environ) startHost(request workflows.HostInstallRequest) {
	e.startChild(workflows.ClusterWorkflowID(request.ClusterID), request)
}

func (e *environ) startChild(parent string, request workflows.HostInstallRequest) {
	e.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			WorkflowID: idOf(request), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		})
		return workflow.ExecuteChildWorkflow(ctx, workflows.HostInstall, request).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "parent"})
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: parent})
	e.TestWorkflowEnvironment.ExecuteWorkflow("parent")
}

func requireCopied(t *testing.T, err error) {
	t.Helper()
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, activities.FailureCopied, failure.Type())
	require.Contains(t, failure.Message(), "it changes nothing")
}

// "Start Workflow Like This One" of Temporal's UI has the input filled in, and a button for a random id.
func TestCopyOfAWorkflowChangesNothing(t *testing.T) {
	t.Parallel()
	ref := newRecorder(3, 2).ref()
	for name, c := range map[string]struct{ workflow, input any }{
		"ClusterInstall": {workflows.ClusterInstall, newRecorder(3, 2).request()},
		"ClusterControl": {workflows.ClusterControl, workflows.ControlRequest{ClusterID: uuid.New(), Name: "prod"}},
		"ClusterReset":   {workflows.ClusterReset, workflows.ResetRequest{ClusterID: uuid.New()}},
		"HostAdd":        {workflows.HostAdd, activities.AddRequest{HostRef: ref, Attempt: 1}},
		"HostReset":      {workflows.HostReset, workflows.HostResetRequest{AddRequest: activities.AddRequest{HostRef: ref}}},
		"HostReclaim":    {workflows.HostReclaim, activities.ReclaimRequest{HostRef: ref, Attempt: 1}},
		"HostInstall":    {workflows.HostInstall, workflows.HostInstallRequest{ClusterID: uuid.New(), Host: newRecorder(1, 0).plan.Hosts[0]}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			env := environment(t, w)
			env.id = uuid.NewString()
			env.ExecuteWorkflow(c.workflow, c.input)
			requireCopied(t, env.GetWorkflowError())
			require.ErrorContains(t, env.GetWorkflowError(), "copy of "+idOf(c.input))
			require.Empty(t, w.lines())
		})
	}
}

// The id alone does not make a host's workflow: without its cluster's workflow above it its end would be lost.
func TestHostIsInstalledByItsClustersWorkflowAlone(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	request := workflows.HostInstallRequest{ClusterID: w.plan.ClusterID, Attempt: 1, Host: w.plan.Hosts[0], Timeouts: w.plan.Timeouts}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.HostInstall, request)
	requireCopied(t, env.GetWorkflowError())

	env = environment(t, w)
	env.startChild(workflows.ClusterWorkflowID(uuid.New()), request)
	requireCopied(t, env.GetWorkflowError())
	require.Empty(t, w.lines())
}
