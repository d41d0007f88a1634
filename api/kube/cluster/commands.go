package cluster

import (
	"context"

	"github.com/google/uuid"

	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// commands returns the commands to the cluster, and remembers what they make of it.
func (r *Reconciler) commands(in *Inputs) resource.Commands {
	if in.Cluster == nil {
		return nil
	}
	id, commands := in.Cluster.ID, resource.Commands{}
	for name, send := range map[string]func(context.Context, uuid.UUID, ...client.Option) error{
		"pause": r.Service.PauseCluster, "resume": r.Service.ResumeCluster, "extend": r.Service.ExtendCluster,
	} {
		commands[name] = func(ctx context.Context) error { return send(ctx, id, owned(in)) }
	}
	for name, send := range map[string]func(context.Context, uuid.UUID, ...client.Option) (*wire.Cluster, error){
		"cancel": r.Service.CancelCluster, "reset": r.Service.ResetCluster,
	} {
		commands[name] = func(ctx context.Context) error {
			c, err := send(ctx, id, owned(in))
			if err == nil {
				in.Cluster = c
			}
			return err
		}
	}
	return commands
}
