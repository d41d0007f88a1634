package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

type clusterPause struct{ clusterArgument }

// Run pauses an installation.
func (k *clusterPause) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.command(ctx, at, t, "pause", "pauses: its hosts finish the stage they are in", (*client.Client).PauseCluster)
}

type clusterResume struct{ clusterArgument }

// Run resumes a paused installation.
func (k *clusterResume) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.command(ctx, at, t, "resume", "continues", (*client.Client).ResumeCluster)
}

type clusterExtend struct{ clusterArgument }

// Run extends the timeout of a stalled phase.
func (k *clusterExtend) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.command(ctx, at, t, "extend", "is waited for once more", (*client.Client).ExtendCluster)
}

// command sends a command to the workflow of a cluster; verb is its name, does what follows.
func (a clusterArgument) command(ctx context.Context, at *ClusterCommands, t *Terminal, verb, does string,
	send func(c *client.Client, ctx context.Context, id uuid.UUID, options ...client.Option) error,
) error {
	state, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.Cluster) (*wire.WorkflowState, error) {
		if err := send(c, ctx, found.ID); err != nil || !at.forPrograms() {
			return nil, err
		}
		return c.Workflow(ctx, found.ID)
	})
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, state)
	}
	t.printf("%s %s\n", a.name(), does)
	return nil
}

type hostRetryStep struct{ hostArgument }

// Run retries the failed stage of a host.
func (k *hostRetryStep) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.command(ctx, at, t, "retry the stage of", "starts its failed stage again", (*client.Client).RetryHostStep)
}

type hostEvict struct{ hostArgument }

// Run removes a failed host from the installation.
func (k *hostEvict) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.command(ctx, at, t, "evict", "is given up: the installation continues without it", (*client.Client).EvictHost)
}

type hostReclaim struct{ hostArgument }

// Run returns a host to its InfraEnv.
func (k *hostReclaim) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.command(ctx, at, t, "reclaim", "goes back to its InfraEnv", (*client.Client).ReclaimHost)
}

type hostApprove struct{ hostArgument }

// Run lets another machine take the place of a host.
func (k *hostApprove) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.command(ctx, at, t, "approve", "is approved: the next machine that registers as this host within an hour takes its place",
		(*client.Client).ApproveHost)
}

// command sends a command for a host; verb and does describe it in sentences.
func (a hostArgument) command(ctx context.Context, at *HostCommands, t *Terminal, verb, does string,
	send func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error,
) error {
	h, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.Host) (*wire.Host, error) {
		if err := send(c, ctx, found.InfraEnvID, found.ID); err != nil || !at.forPrograms() {
			return found, err
		}
		return c.Host(ctx, found.InfraEnvID, found.ID)
	})
	return at.printHost(t, h, does, err)
}

// workflowTime is how long a command that only shows waits for the workflow's reply.
const workflowTime = 3 * time.Second

// withWorkflow are the statuses in which a cluster may have a running workflow.
var withWorkflow = []wire.ClusterStatus{
	wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction,
	wire.ClusterStatusFinalizing, wire.ClusterStatusError,
}

// printWaits lists what a running installation waits for and the commands that continue it. A workflow that
// does not answer is left out.
func printWaits(ctx context.Context, at *ClusterCommands, t *Terminal, c *wire.Cluster) {
	if c.Status == wire.ClusterStatusCancelled {
		printReset(at, t, c)
	}
	if !slices.Contains(withWorkflow, c.Status) {
		return
	}
	state, err := at.Client().Workflow(ctx, c.ID, client.WithTimeout(workflowTime))
	if errors.Is(err, model.ErrNotFound) && c.Status == wire.ClusterStatusError {
		printReset(at, t, c)
	}
	if err != nil {
		return
	}
	if state.Paused {
		t.printf(
			"\nThe installation is paused: hosts wait before their next stage. To continue:\n  %s\n",
			clusterCommand(at.URL, c, "resume"),
		)
	}
	if state.TimedOut {
		t.printf("\nThe installation was not finalized in time. To wait once more:\n  %s\n", clusterCommand(at.URL, c, "extend"))
	}
	for _, waiting := range state.Hosts {
		n := slices.IndexFunc(c.Hosts, func(h wire.Host) bool { return h.ID == waiting.HostID })
		if waiting.State != wire.WorkflowWaiting || n < 0 {
			continue
		}
		h := &c.Hosts[n]
		t.printf("\nHost %s waits for a decision: %s\n", view.HostName(h), view.OneLine(waiting.Reason))
		t.fields(
			"To try the failed stage again", hostCommand(at.URL, c, h, "retry-step"),
			"To start the host again", hostCommand(at.URL, c, h, "retry"),
			"To continue without it", hostCommand(at.URL, c, h, "evict"),
		)
	}
}

// printReset names the command that leads from an installation that has ended to another one.
func printReset(at *ClusterCommands, t *Terminal, c *wire.Cluster) {
	t.printf(
		"\nThe installation has ended. To return cluster and hosts to discovery, for another one:\n  %s\n",
		clusterCommand(at.URL, c, "reset"),
	)
}
