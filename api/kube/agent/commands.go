package agent

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// commands returns the commands to the host of an Agent.
func (r *Reconciler) commands(a *agentinstall.Agent, h *wire.Host) resource.Commands {
	commands := resource.Commands{}
	for name, send := range map[string]func(context.Context, uuid.UUID, uuid.UUID, ...client.Option) error{
		"retry": r.Service.RetryHost, "retry-step": r.Service.RetryHostStep, "evict": r.Service.EvictHost,
		"approve": r.Service.ApproveHost,
		"reclaim": r.reclaim(a),
	} {
		commands[name] = func(ctx context.Context) error {
			return send(ctx, h.InfraEnvID, h.ID, client.WithKubeKey(a.Namespace, a.Name))
		}
	}
	return commands
}

// reclaim returns the command that brings a host back to its InfraEnv. An Agent that names a cluster would let the host join that again.
func (r *Reconciler) reclaim(a *agentinstall.Agent) func(context.Context, uuid.UUID, uuid.UUID, ...client.Option) error {
	return func(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error {
		if ref := a.Spec.ClusterDeploymentName; ref != nil {
			return &resource.InputError{Err: fmt.Errorf("require no spec.clusterDeploymentName, found %s/%s", ref.Namespace, ref.Name)}
		}
		return r.Service.ReclaimHost(ctx, infraEnvID, hostID, options...)
	}
}
