package cli

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// hostAction is an operation on one host that returns it.
type hostAction func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error)

// act does something with a host; verb and does describe it in sentences.
func (a hostArgument) act(ctx context.Context, at *HostCommands, t *Terminal, verb, does string, do hostAction) error {
	h, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.Host) (*wire.Host, error) {
		return do(c, ctx, found.InfraEnvID, found.ID)
	})
	return at.printHost(t, h, does, err)
}

// printHost prints what a host does now, unless the operation failed.
func (at *HostCommands) printHost(t *Terminal, h *wire.Host, does string, err error) error {
	switch {
	case err != nil:
		return err
	case at.forPrograms():
		return at.print(t, h)
	}
	t.printf("host %s %s\n", view.HostName(h), does)
	return nil
}

type hostRetry struct{ hostArgument }

// Run retries a failed host.
func (k *hostRetry) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.command(ctx, at, t, "retry", "starts again", (*client.Client).RetryHost)
}

type hostReset struct{ hostArgument }

// Run resets an added host to discovery.
func (k *hostReset) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.act(ctx, at, t, "reset", "is being reset", (*client.Client).ResetHost)
}

type hostDelete struct{ hostArgument }

// Run deletes a host.
func (k *hostDelete) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	h, err := ask(ctx, &at.Connection, k, "delete", func(c *client.Client, found *wire.Host) (*wire.Host, error) {
		return found, c.DeleteHost(ctx, found.InfraEnvID, found.ID)
	})
	if err == nil && !at.forPrograms() {
		t.printf("host %s deleted\n", view.HostName(h))
	}
	return err
}

type hostInstall struct {
	hostArgument
	Wait    bool          `help:"Wait until the host has joined its cluster."`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

// Run adds a host to a running cluster.
func (k *hostInstall) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	if err := k.act(ctx, at, t, "install", "is being installed", (*client.Client).InstallHost); err != nil || !k.Wait {
		return err
	}
	return waitHost{k.hostArgument, waitFlags{string(wire.HostStatusAddedToExistingCluster), k.Timeout}}.wait(ctx, &at.Connection, t)
}

type hostBind struct {
	Host     string `arg:"" predictor:"host" help:"Name or id of the host."`
	Cluster  string `arg:"" predictor:"cluster" help:"Name or id of the cluster."`
	InfraEnv string `name:"infra-env" help:"Only hosts of this InfraEnv: its name or id."`
}

// Run binds a host to a cluster.
func (k *hostBind) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	cluster, err := FindCluster(ctx, at.Client(), k.Cluster)
	if err != nil {
		return err
	}
	return hostArgument{k.Host, scope{InfraEnv: k.InfraEnv}}.act(ctx, at, t, "bind", "is bound to cluster "+cluster.Name,
		func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error) {
			return c.BindHost(ctx, infraEnvID, hostID, cluster.ID, options...)
		})
}

type hostUnbind struct{ hostArgument }

// Run unbinds a host from its cluster.
func (k *hostUnbind) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.act(ctx, at, t, "unbind", "leaves its cluster", (*client.Client).UnbindHost)
}

type hostRecheck struct {
	hostArgument
	Validation wire.HostValidationID `arg:"" help:"Id of the validation: sufficient-installation-disk-speed or container-images-available."`
}

// Run repeats the check of a validation on a host.
func (k *hostRecheck) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	return k.act(ctx, at, t, "recheck", "is asked again for "+string(k.Validation),
		func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error) {
			return c.RecheckHost(ctx, infraEnvID, hostID, k.Validation, options...)
		})
}
