package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/installation"
)

// Control carries out the commands that reach a cluster through Temporal, whether its installation runs or has ended.
type Control struct {
	Store    *store.Store
	Commands Commander
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
}

// CommandInput is what came with a command: the name or id of a host, as a JSON string, or nothing. Anything else is kept as
// it came, to be shown with the refusal.
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

// Controlled is how a command ended that was not refused.
type Controlled struct {
	Gone bool // there is no such cluster
}

// CommandCluster carries a command out. One that is refused is an event of the cluster and fails with FailureRefused.
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
		return Controlled{}, err
	}
	refused := events.Props{"command": c.Name, "reason": err.Error()}
	eerr := installation.UpdateCluster(ctx, a.Store, c.ClusterID, func(now *model.Cluster, _ []*model.Host, tx *store.Tx) error {
		tx.Event(events.New(events.CommandRefused, lifecycle.AboutCluster(now), refused, tx.Now()))
		return nil
	})
	if eerr != nil {
		return Controlled{}, eerr
	}
	return Controlled{}, temporal.NewNonRetryableApplicationError(err.Error(), FailureRefused, nil)
}

func (a *Control) carryOut(ctx context.Context, cluster *model.Cluster, c ControlCommand) error {
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
		return nil, model.Invalidf("host %s of cluster %s: require the id of one host, found a name that %d have", nameOrID, c.Name, len(found))
	}
	return nil, model.Invalidf("host of cluster %s: require one of %s, found %q", c.Name, strings.Join(names, ", "), nameOrID)
}
