package cli

import (
	"context"
	"strings"
	"time"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// WaitCommands are the commands below "wait".
type WaitCommands struct {
	Connection
	Cluster waitCluster `cmd:"" help:"Wait until a cluster has a status."`
	Host    waitHost    `cmd:"" help:"Wait until a host has a status."`
}

// waitFlags say what is waited for and how long.
type waitFlags struct {
	For     string        `required:"" help:"Status to wait for: ready, installed, known, added-to-existing-cluster, ..." placeholder:"STATUS"`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

// waitPause is the time between two looks.
const waitPause = time.Second

type waitCluster struct {
	clusterArgument
	waitFlags
}

// clusterEnds are the statuses a cluster does not leave by itself, and so end a wait for
// another.
var clusterEnds = []string{
	string(wire.ClusterStatusError), string(wire.ClusterStatusCancelled), string(wire.ClusterStatusInstalled),
	string(wire.ClusterStatusAddingHosts), string(wire.ClusterStatusUnmonitored),
}

// Run waits.
func (k *waitCluster) Run(ctx context.Context, at *WaitCommands, t *Terminal) error {
	return k.wait(ctx, &at.Connection, t)
}

func (k waitCluster) wait(ctx context.Context, at *Connection, t *Terminal) error {
	if !wire.ClusterStatus(k.For).Valid() {
		return usagef("require a cluster status, found %q", k.For)
	}
	screen := t.Screen()
	return wait(ctx, at, t, k.waitFlags, k, waited[wire.Cluster]{
		ends: clusterEnds,
		read: func(ctx context.Context, c *client.Client, found *wire.Cluster) (*wire.Cluster, error) {
			return c.Cluster(ctx, found.ID)
		},
		state: func(found *wire.Cluster) (string, string) {
			return string(found.Status), found.StatusInfo
		},
		show: func(found *wire.Cluster) {
			if t.Interactive {
				screen.Draw(view.Picture(found, t.Now()))
				return
			}
			screen.Draw(view.PlainPicture(found))
		},
	})
}

type waitHost struct {
	hostArgument
	waitFlags
}

// hostEnds are the statuses a host does not leave by itself.
var hostEnds = []string{
	string(wire.HostStatusError), string(wire.HostStatusCancelled), string(wire.HostStatusInstalled), string(wire.HostStatusAddedToExistingCluster),
}

// Run waits.
func (k *waitHost) Run(ctx context.Context, at *WaitCommands, t *Terminal) error {
	return k.wait(ctx, &at.Connection, t)
}

func (k waitHost) wait(ctx context.Context, at *Connection, t *Terminal) error {
	if !wire.HostStatus(k.For).Valid() {
		return usagef("require a host status, found %q", k.For)
	}
	screen := t.Screen()
	return wait(ctx, at, t, k.waitFlags, k, waited[wire.Host]{
		ends: hostEnds,
		read: func(ctx context.Context, c *client.Client, found *wire.Host) (*wire.Host, error) {
			return c.Host(ctx, found.InfraEnvID, found.ID)
		},
		state: func(found *wire.Host) (string, string) {
			return string(found.Status), found.StatusInfo
		},
		show: func(found *wire.Host) {
			screen.Draw([]view.Line{{Place: found.ID.String(), Text: view.HostLine(found)}})
		},
	})
}

// RetryCommand is what a user types to start a failed host again.
func RetryCommand(url string, c *wire.Cluster, h *wire.Host) string {
	return hostCommand(url, c, h, "retry")
}

func hostCommand(url string, c *wire.Cluster, h *wire.Host, command string) string {
	return strings.Join([]string{"slipway host", command, view.HostName(h), "--cluster", c.Name, "--url", url}, " ")
}

func clusterCommand(url string, c *wire.Cluster, command string) string {
	return strings.Join([]string{"slipway cluster", command, c.Name, "--url", url}, " ")
}
