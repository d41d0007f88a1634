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
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// WaitCommands are the commands below "wait".
type WaitCommands struct {
	Connection
	Cluster waitCluster `cmd:"" help:"Wait until a cluster has a status."`
	Host    waitHost    `cmd:"" help:"Wait until a host has a status."`
}

// waitFlags are the status to wait for and the time limit.
type waitFlags struct {
	For     string        `required:"" help:"Status to wait for: ready, installed, known, added-to-existing-cluster, ..." placeholder:"STATUS"`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

const (
	// waitPause is the shortest time between two requests for an object.
	waitPause = time.Second
	// changesPause is how long a request for changes is held.
	changesPause = 30 * time.Second
)

// changed waits until something has changed since its last call. It knows no place in the feed of changes at first.
type changed struct {
	cursor string
	older  bool // the service has no feed
}

// wait returns after waitPause: at the earliest when the feed is followed, always when it is not. It returns an error only when ctx
// ends.
func (f *changed) wait(ctx context.Context, c *client.Client, follow bool) error {
	if err := hostexec.Sleep(ctx, waitPause); err != nil || f.older || !follow {
		return err
	}
	found, err := c.Changes(ctx, f.cursor, changesPause)
	f.cursor = found.Cursor // none: the next call begins anew, and the object is read between
	f.older = errors.Is(err, model.ErrNotFound)
	return ctx.Err()
}

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
				screen.Draw(view.Snapshot(found, t.Now()))
				return
			}
			screen.Draw(view.PlainSnapshot(found))
		},
	})
}

type waitHost struct {
	hostArgument
	waitFlags
}

// hostEnds are the statuses a host does not leave by itself.
var hostEnds = []string{
	string(
		wire.HostStatusError,
	), string(wire.HostStatusCancelled), string(wire.HostStatusInstalled), string(wire.HostStatusAddedToExistingCluster),
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

// RetryCommand returns the command that a user types to retry a failed host.
func RetryCommand(url string, c *wire.Cluster, h *wire.Host) string {
	return hostCommand(url, c, h, "retry")
}

func hostCommand(url string, c *wire.Cluster, h *wire.Host, command string) string {
	return strings.Join([]string{"slipway host", command, view.HostName(h), "--cluster", c.Name, "--url", url}, " ")
}

func clusterCommand(url string, c *wire.Cluster, command string) string {
	return strings.Join([]string{"slipway cluster", command, c.Name, "--url", url}, " ")
}

// waited is an object with a status that can be waited for.
type waited[F any] struct {
	ends  []string // statuses that end a wait for another
	read  func(ctx context.Context, c *client.Client, found *F) (*F, error)
	state func(found *F) (status, info string)
	show  func(found *F)
}

// settling is how many times a final status found at the beginning is ignored: a command accepted just before,
// such as a reset, shows only when its workflow has begun.
const settling = 5

var errWaitOver = errors.New("time is over")

// wait polls until the object of an argument has the status of the flags.
func wait[F any](ctx context.Context, at *Connection, t *Terminal, flags waitFlags, a argument[F], w waited[F]) error {
	c := at.Client()
	ctx, cancel := context.WithTimeoutCause(ctx, flags.Timeout, errWaitOver)
	defer cancel()
	found, err := appear(ctx, c, a)
	if err != nil {
		return err
	}
	first, _ := w.state(found)
	var feed changed
	for looks := 1; ; looks++ {
		status, info := w.state(found)
		if status != first {
			looks = settling
		}
		if !at.forPrograms() { // which goes out alone
			w.show(found)
		}
		switch {
		case status == flags.For && at.forPrograms():
			return at.print(t, found)
		case status == flags.For:
			return nil
		case slices.Contains(w.ends, status) && looks >= settling:
			return &Failure{fmt.Errorf("%s is %s: %s", a.name(), status, info), exitFailed}
		}
		err := feed.wait(ctx, c, looks >= settling)
		if err == nil {
			var next *F
			if next, err = w.read(ctx, c, found); err == nil {
				found = next
			}
		}
		switch {
		case ctx.Err() != nil:
			return waitEnded(ctx, a.name()+" is still "+status)
		case err != nil && !client.Passing(err):
			return failed(at.URL, "wait for "+a.name(), err)
		}
	}
}

// appear finds the object of an argument. A host may appear later, or get its name when its agent reports it;
// other objects must exist.
func appear[F any](ctx context.Context, c *client.Client, a argument[F]) (*F, error) {
	for {
		found, err := a.find(ctx, c)
		switch {
		case err == nil:
			return found, nil
		case ctx.Err() == nil && !errors.Is(err, errNoHost):
			return nil, err
		case hostexec.Sleep(ctx, waitPause) != nil:
			return nil, waitEnded(ctx, "there is no "+a.name())
		}
	}
}

// waitEnded returns why a wait ended at a state: its time is over, or its user ended it.
func waitEnded(ctx context.Context, state string) error {
	if errors.Is(context.Cause(ctx), errWaitOver) {
		return &Failure{fmt.Errorf("%s: %w", state, errWaitOver), exitTimeout}
	}
	return fmt.Errorf("%s: %w", state, ctx.Err())
}
