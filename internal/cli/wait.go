package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/run"
	"slipway/internal/wire"
)

// WaitCommands are the commands below "wait".
type WaitCommands struct {
	Connection
	Cluster waitCluster `cmd:"" help:"Wait until a cluster has a status."`
}

type waitCluster struct {
	Cluster string        `arg:"" help:"Name or id of the cluster."`
	For     string        `required:"" help:"Status to wait for: ready, installed, ..." placeholder:"STATUS"`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

// waitPause is the time between two looks.
const waitPause = time.Second

// ends are the statuses a cluster does not leave by itself, and so end a wait for another.
var ends = []wire.ClusterStatus{wire.ClusterStatusError, wire.ClusterStatusCancelled, wire.ClusterStatusInstalled}

// Run waits.
func (k *waitCluster) Run(ctx context.Context, at *WaitCommands, t *Terminal) error {
	return k.wait(ctx, &at.Connection, t)
}

func (k waitCluster) wait(ctx context.Context, at *Connection, t *Terminal) error {
	if !wire.ClusterStatus(k.For).Valid() {
		return fmt.Errorf("require a cluster status, found %q", k.For)
	}
	c := at.Client()
	cluster, err := FindCluster(ctx, c, k.Cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, k.Timeout, errWaitOver)
	defer cancel()
	screen := t.Screen()
	for {
		show(screen, at, t, cluster)
		switch {
		case cluster.Status == wire.ClusterStatus(k.For):
			if at.json() {
				return t.json(cluster)
			}
			return nil
		case slices.Contains(ends, cluster.Status):
			return &Failure{fmt.Errorf("cluster %s is %s: %s", cluster.Name, cluster.Status, cluster.StatusInfo), exitFailed}
		}
		if err := run.Sleep(ctx, waitPause); err != nil {
			return waitEnded(ctx, cluster, err)
		}
		next, err := c.Cluster(ctx, cluster.ID)
		switch {
		case err == nil:
			cluster = next
		case ctx.Err() != nil:
			return waitEnded(ctx, cluster, err)
		case !client.Passing(err):
			return failed(at.URL, "wait for cluster "+k.Cluster, err)
		}
	}
}

var errWaitOver = errors.New("time is over")

func waitEnded(ctx context.Context, c *wire.Cluster, err error) error {
	if errors.Is(context.Cause(ctx), errWaitOver) {
		return &Failure{fmt.Errorf("cluster %s is still %s: time is over", c.Name, c.Status), exitTimeout}
	}
	return fmt.Errorf("wait for cluster %s: %w", c.Name, err)
}

// show draws a cluster that is waited for; JSON goes out alone.
func show(screen *view.Screen, at *Connection, t *Terminal, c *wire.Cluster) {
	switch {
	case at.json():
	case t.Interactive:
		screen.Draw(view.Picture(c, t.Now()))
	default:
		screen.Draw(view.PlainPicture(c))
	}
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
