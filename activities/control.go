package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Control carries out the commands that reach a cluster through Temporal, whether its installation runs or has ended.
type Control struct {
	Store     *store.Store
	Commands  Commander
	Workflows Workflows
}

// Workflows finds and ends workflows in Temporal by their ids.
type Workflows interface {
	// CancelWorkflow asks a workflow to end; a workflow that does not run has ended.
	CancelWorkflow(ctx context.Context, id string) error
	WorkflowRuns(ctx context.Context, id string) (bool, error)
}

// Commander gives commands as the API does. An ErrConflict or ErrInvalid says why not.
type Commander interface {
	Cancel(ctx context.Context, id uuid.UUID) error
	Reset(ctx context.Context, id uuid.UUID) error
	ClusterCommand(ctx context.Context, id uuid.UUID, name string) error
	HostCommand(ctx context.Context, infraEnvID, hostID uuid.UUID, name string) error
}

// ControlCommand is a command for a cluster, or for one of its hosts.
type ControlCommand struct {
	ClusterID uuid.UUID
	Name      string
	Input     CommandInput
	// Again is set when the workflow was reset in Temporal, which gives it all commands again that came after that point.
	Again bool `json:",omitempty"`
}

// CommandInput is the input of a command: the name or id of a host, as a JSON string, or nothing. Any other input is kept as it came,
// to be shown with the refusal.
type CommandInput struct {
	Host  string `json:",omitempty"`
	Wrong string `json:",omitempty"`
}

// UnmarshalJSON never fails: signals whose input cannot be decoded would be dropped without a word.
func (i *CommandInput) UnmarshalJSON(data []byte) error {
	type input CommandInput
	if json.Unmarshal(data, &i.Host) == nil {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if decoder.Decode((*input)(i)) != nil {
		i.Wrong = string(data)
	}
	return nil
}

// Names of commands as Temporal's users write them.
const (
	controlCancel = "cancel"
	controlReset  = "reset"
)

// Commands that Control carries out, as the workflow offers them: commands for clusters, and commands for hosts, whose input names a
// host.
var (
	controlClusterCommands = []string{controlCancel, controlReset, "extend", "pause", "resume"}
	controlHostCommands    = []string{"retry", "retry-step", "evict"}
)

// Controlled is how a command ended that was not refused.
type Controlled struct {
	Gone bool // there is no such cluster
	// EndsRun is set by versions whose workflow continues as new after each command. A refusal has it in its details. It is in the
	// result, and no version marker, so that runs of earlier versions end with their next command.
	EndsRun bool `json:",omitempty"`
}

// CommandCluster carries a command out. One that is refused, or comes again, is an event of the cluster and fails with
// FailureRefused.
func (a *Control) CommandCluster(ctx context.Context, c ControlCommand) (Controlled, error) {
	cluster, err := a.Store.Cluster(ctx, c.ClusterID)
	if errors.Is(err, model.ErrNotFound) {
		return Controlled{Gone: true}, nil
	}
	if err != nil {
		return Controlled{}, err
	}
	err = a.carryOut(ctx, cluster, c)
	if !errors.Is(err, model.ErrConflict) && !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrNotFound) {
		return Controlled{EndsRun: true}, err
	}
	refused := events.Props{"command": c.Name, "reason": err.Error()}
	eerr := transitions.UpdateCluster(ctx, a.Store, c.ClusterID, func(now *model.Cluster, tx *store.Tx) error {
		tx.Event(events.New(events.CommandRefused, lifecycle.AboutCluster(now), refused, tx.Now()))
		return nil
	})
	if eerr != nil {
		return Controlled{}, eerr
	}
	return Controlled{}, temporal.NewNonRetryableApplicationError(err.Error(), FailureRefused, nil, Controlled{EndsRun: true})
}

func (a *Control) carryOut(ctx context.Context, cluster *model.Cluster, c ControlCommand) error {
	if c.Again {
		return model.Conflictf("command %s came with a Reset of the workflow in Temporal, and was answered before it: send it once more to have "+
			"it carried out", c.Name)
	}
	forHost := slices.Contains(controlHostCommands, c.Name)
	switch {
	case !forHost && !slices.Contains(controlClusterCommands, c.Name):
		return model.Invalidf("command: require one of %s, or with the name of a host as input one of %s, found %q",
			strings.Join(controlClusterCommands, ", "), strings.Join(controlHostCommands, ", "), c.Name)
	case forHost && c.Input == (CommandInput{}):
		return model.Invalidf("command %s: the name of a host is required as input", c.Name)
	case !forHost && c.Input.Host != "":
		return model.Invalidf("command %s is for the whole cluster: require no input, found %q", c.Name, c.Input.Host)
	}
	if c.Input.Wrong != "" {
		return model.Invalidf("input of %s: require the name of a host as a JSON string, or none, found %s", c.Name, c.Input.Wrong)
	}
	if c.Input.Host != "" {
		h, err := a.host(ctx, cluster, c.Input.Host)
		if err != nil {
			return err
		}
		return a.Commands.HostCommand(ctx, h.InfraEnvID, h.ID, c.Name)
	}
	switch c.Name {
	case controlCancel:
		return a.Commands.Cancel(ctx, c.ClusterID)
	case controlReset:
		return a.Commands.Reset(ctx, c.ClusterID)
	}
	return a.Commands.ClusterCommand(ctx, c.ClusterID, c.Name)
}

// RefusedSignal is a signal that the workflow of a cluster, or of one of its hosts, does not take.
type RefusedSignal struct {
	HostRef // the zero InfraEnvID and HostID: the cluster itself
	Name    string
	Takes   []string // the commands that it takes
}

// RefuseSignal writes an event about a signal that was refused.
func (a *Control) RefuseSignal(ctx context.Context, r RefusedSignal) error {
	refused := events.Props{"command": r.Name, "reason": fmt.Sprintf("require one of %s, found %q", strings.Join(r.Takes, ", "), r.Name)}
	var about *events.Subject
	if r.HostID != uuid.Nil {
		h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
		if err == nil && h.ClusterID != nil && *h.ClusterID == r.ClusterID {
			about = new(lifecycle.AboutHost(h))
		}
	}
	return nonRetryable(transitions.UpdateCluster(ctx, a.Store, r.ClusterID, func(c *model.Cluster, tx *store.Tx) error {
		if about == nil {
			about = new(lifecycle.AboutCluster(c))
		}
		tx.Event(events.New(events.CommandRefused, *about, refused, tx.Now()))
		return nil
	}))
}

// host finds a host of a cluster by its name or id.
func (a *Control) host(ctx context.Context, c *model.Cluster, nameOrID string) (*model.Host, error) {
	hosts, err := a.Store.ClusterHosts(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	var names []string
	var found []*model.Host
	for _, h := range hosts {
		if h.Hostname() == nameOrID || h.ID.String() == nameOrID {
			found = append(found, h)
		}
		names = append(names, h.Hostname())
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
	default:
		return nil, model.Invalidf("host %s of cluster %s: %d hosts have this name; use the id of one", nameOrID, c.Name, len(found))
	}
	return nil, model.Invalidf("host of cluster %s: require one of %s, found %q", c.Name, strings.Join(names, ", "), nameOrID)
}

// HostWorkflows are the workflows of hosts, by their ids.
type HostWorkflows struct {
	IDs []string
}

// How workflows are waited for that were asked to end, and how many are asked at once.
const (
	askEvery   = time.Second
	askAtOnce  = 8
	askReserve = 5 * time.Second // before the activity's time is over
)

// EndHosts asks workflows of hosts to end, and waits until they have. It returns the workflows that still run when its time is over:
// their commands are not handed out any more.
func (a *Control) EndHosts(ctx context.Context, r HostWorkflows) (HostWorkflows, error) {
	if _, err := each(ctx, r.IDs, func(ctx context.Context, id string) (bool, error) {
		return false, a.Workflows.CancelWorkflow(ctx, id)
	}); err != nil {
		return HostWorkflows{}, err
	}
	waiting, stop := context.WithDeadline(ctx, activity.GetInfo(ctx).Deadline.Add(-askReserve))
	defer stop()
	for left := r.IDs; ; {
		var err error
		if left, err = each(ctx, left, a.Workflows.WorkflowRuns); err != nil {
			return HostWorkflows{}, err
		}
		if len(left) == 0 || waiting.Err() != nil {
			return HostWorkflows{IDs: left}, ctx.Err()
		}
		activity.RecordHeartbeat(ctx, len(left))
		select {
		case <-waiting.Done():
		case <-time.After(askEvery):
		}
	}
}

// each calls keep for each id, some at once, and returns those that it keeps, in order.
func each(ctx context.Context, ids []string, keep func(context.Context, string) (bool, error)) ([]string, error) {
	kept := make([]bool, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askAtOnce)
	for i, id := range ids {
		group.Go(func() error {
			var err error
			kept[i], err = keep(ctx, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var left []string
	for i, id := range ids {
		if kept[i] {
			left = append(left, id)
		}
	}
	return left, nil
}
