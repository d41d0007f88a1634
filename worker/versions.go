package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"slipway/internal/version"
	"slipway/workflows"
)

// Deployment is the name of Slipway's workers in Temporal (Worker Deployments), and the identity that manages them: Temporal refuses a
// change by other identities, which its web UI and command line have.
const Deployment = "slipway"

// Versions keeps the newest version that polls current: Temporal gives workflow tasks, new workflows and activities to
// workers of the current version alone. Every worker runs it.
//
// A newer version becomes current as soon as it polls. An older one becomes current when no worker of the current version polls any
// more, and only if it knows every change that running workflows have passed: it would replay other workflows without an error, and
// continue them in the old way.
type Versions struct {
	Client client.Client
	Queue  string
	Build  string // of this program
	Log    *slog.Logger
	Now    func() time.Time

	// Changes are the changes that this program knows (workflows.Changes).
	Changes map[string]int
	Pace    Pace

	absence absence
	warned  string
}

// Pace says how often Versions looks, and how long the current version may be away.
type Pace struct {
	First time.Duration // between looks until the version is registered; doubles up to Look
	Look  time.Duration // between looks later

	Gone   time.Duration // without a listed poller
	Silent time.Duration // with pollers listed that do not poll again; more than a long poll (a minute)
}

// UsualPace returns the pace of the service. Temporal lists pollers that were killed for five minutes.
func UsualPace() Pace {
	return Pace{First: 100 * time.Millisecond, Look: 10 * time.Second, Gone: 30 * time.Second, Silent: 2 * time.Minute}
}

// Check returns an error when the server has no worker deployments: its workers would never get a task.
func (v *Versions) Check(ctx context.Context) error {
	// A list is read from the tables of visibility: it needs no workflow of Temporal's own, which a server that has just
	// started answers for late.
	all, err := v.Client.WorkerDeploymentClient().List(ctx, client.WorkerDeploymentListOptions{PageSize: 1})
	if err == nil && all.HasNext() {
		_, err = all.Next()
	}
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	if errors.As(err, &denied) || errors.As(err, &unknown) {
		return fmt.Errorf("require worker deployments of Temporal (server 1.29.1 or later, system.enableDeploymentVersions): %w", err)
	}
	return nil // other errors pass; Run asks again
}

// Run looks until ctx ends.
func (v *Versions) Run(ctx context.Context) {
	pause := v.Pace.First
	for last := waiting; ; {
		found, err := v.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case found == current && last != current:
			v.Log.Info("version of this worker is current", "version", v.Build)
			fallthrough
		case found == current:
			v.warned, pause = "", v.Pace.Look
		case found == chosen:
			pause = v.Pace.First
		case found == waiting && err == nil:
			pause = v.Pace.Look
		default:
			if pause = min(2*pause, v.Pace.Look); pause == v.Pace.Look {
				v.warn("version of this worker is not current yet", "reason", reason(err))
			}
		}
		last = found
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func reason(err error) string {
	if err == nil {
		return "Temporal has not registered it, or is still routing tasks to it"
	}
	return err.Error()
}

// standing is the finding of a look.
type standing int

const (
	starting standing = iota // Temporal does not know this version yet, or does not route tasks to it yet
	waiting                  // another version is current
	chosen                   // this look made it current
	current
)

// look makes this version current if it is its turn.
func (v *Versions) look(ctx context.Context) (standing, error) {
	routed, err := v.isRouted(ctx)
	if err != nil {
		return starting, err
	}
	if routed {
		return current, nil
	}
	deployment, err := v.handle().Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return starting, nil
	}
	if err != nil {
		return starting, fmt.Errorf("describe the worker deployment: %w", err)
	}
	before := buildOf(deployment.Info.RoutingConfig.CurrentVersion)
	if before == v.Build {
		return starting, nil
	}
	if before != "" && !version.Newer(v.Build, before) {
		if mayTake, err := v.mayReplace(ctx, before); err != nil || !mayTake {
			return waiting, err
		}
	}
	return v.choose(ctx, deployment)
}

// choose makes this version current, unless another worker has changed the version since it was described.
func (v *Versions) choose(ctx context.Context, described client.WorkerDeploymentDescribeResponse) (standing, error) {
	token, err := v.manage(ctx, described)
	if err != nil {
		return starting, err
	}
	_, err = v.handle().SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{
		BuildID: v.Build, ConflictToken: token, Identity: Deployment,
	})
	if err != nil {
		return starting, fmt.Errorf("make version %s current: %w", v.Build, err)
	}
	if before := buildOf(described.Info.RoutingConfig.CurrentVersion); before != "" {
		v.Log.Info("version of this worker replaces another", "version", v.Build, "before", before)
	}
	v.absence = absence{}
	return chosen, nil
}

// isRouted reports whether Temporal gives the tasks of both queues to this version. It does so a moment after the version
// became current, or a minute where the server was killed in between.
func (v *Versions) isRouted(ctx context.Context) (bool, error) {
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		queue, err := v.Client.DescribeTaskQueue(ctx, v.Queue, kind)
		if err != nil {
			return false, fmt.Errorf("describe task queue %s: %w", v.Queue, err)
		}
		to := queue.GetVersioningInfo().GetCurrentDeploymentVersion()
		if to.GetDeploymentName() != Deployment || to.GetBuildId() != v.Build {
			return false, nil
		}
	}
	return true, nil
}

// manage makes Slipway the manager of the deployment, unless it has one: an operator who takes the versions over is left
// alone. It returns the token for the next change.
func (v *Versions) manage(ctx context.Context, d client.WorkerDeploymentDescribeResponse) ([]byte, error) {
	if d.Info.ManagerIdentity != "" {
		return d.ConflictToken, nil
	}
	done, err := v.handle().SetManagerIdentity(ctx, client.WorkerDeploymentSetManagerIdentityOptions{
		ManagerIdentity: Deployment, Identity: Deployment, ConflictToken: d.ConflictToken,
	})
	if err != nil {
		return nil, fmt.Errorf("become the manager of the worker deployment: %w", err)
	}
	return done.ConflictToken, nil
}

func buildOf(v *worker.WorkerDeploymentVersion) string {
	if v == nil {
		return ""
	}
	return v.BuildID
}

// warn logs a warning, unless it was the last one.
func (v *Versions) warn(message string, args ...any) {
	if text := fmt.Sprint(append([]any{message}, args...)...); text != v.warned {
		v.warned = text
		v.Log.Warn(message, append([]any{"version", v.Build}, args...)...)
	}
}

func (v *Versions) handle() client.WorkerDeploymentHandle {
	return v.Client.WorkerDeploymentClient().GetHandle(Deployment)
}

// NewVersions returns the Versions of a worker that New made with the same build.
func NewVersions(c client.Client, build string, log *slog.Logger, now func() time.Time) *Versions {
	return &Versions{
		Client: c, Queue: workflows.TaskQueue, Build: build, Log: log, Now: now, Changes: workflows.Changes(), Pace: UsualPace(),
	}
}
