// Package worker runs workflows and activities. Its list of both is shared with the replay tests, so that only replayed code runs.
package worker

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/workflows"
)

// Dependencies are the activity structs.
type Dependencies struct {
	Clusters *activities.Clusters
	Hosts    *activities.Hosts
	Steps    *activities.Steps
	Files    *activities.Files

	Housekeeping *activities.Housekeeping
	Control      *activities.Control
}

// RegisterWorkflows registers every workflow.
func RegisterWorkflows(r worker.WorkflowRegistry) {
	r.RegisterWorkflow(workflows.ClusterInstall)
	r.RegisterWorkflow(workflows.HostInstall)
	r.RegisterWorkflow(workflows.ClusterReset)
	r.RegisterWorkflow(workflows.ClusterControl)
	r.RegisterWorkflow(workflows.HostAdd)
	r.RegisterWorkflow(workflows.HostReset)
	r.RegisterWorkflow(workflows.HostReclaim)
	r.RegisterWorkflow(workflows.DeregisterIdleClusters)
	r.RegisterWorkflow(workflows.DeregisterIdleInfraEnvs)
	r.RegisterWorkflow(workflows.PurgeDeleted)
	r.RegisterWorkflow(workflows.PurgeAudit)
}

// RegisterActivities registers every activity.
func RegisterActivities(r worker.ActivityRegistry, d Dependencies) {
	r.RegisterActivity(d.Clusters)
	r.RegisterActivity(d.Hosts)
	r.RegisterActivity(d.Steps)
	r.RegisterActivity(d.Files)
	r.RegisterActivity(d.Housekeeping)
	r.RegisterActivity(d.Control)
}

// pollers: the SDK's two of each miss synchronous matches and double the commits.
const pollers = 16

// New makes a worker of the version build; Start it. It gets no workflow task before its version is current (Versions).
func New(c client.Client, d Dependencies, build string) worker.Worker {
	worker.SetBinaryChecksum(build) // else the SDK reads the whole program to make one
	w := worker.New(c, workflows.TaskQueue, worker.Options{
		DeploymentOptions: worker.DeploymentOptions{
			UseVersioning: true,
			Version:       worker.WorkerDeploymentVersion{DeploymentName: Deployment, BuildID: build},
			// None is pinned, the short ones neither: a pinned workflow waits without an end once no worker of its version runs,
			// and slipway up runs one version at a time. Changes are behind GetVersion instead.
			DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
		},
		MaxConcurrentActivityTaskPollers: pollers,
		MaxConcurrentWorkflowTaskPollers: pollers,
		WorkerStopTimeout:                5 * time.Second,
		Interceptors:                     []interceptor.WorkerInterceptor{&activities.Conflicts{}},
	})
	RegisterWorkflows(w)
	RegisterActivities(w, d)
	return w
}
