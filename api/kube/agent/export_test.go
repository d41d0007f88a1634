package agent

import (
	"context"

	"slipway/api/kube/agentinstall"
)

// Read reads what an Agent refers to, as its reconciler does.
func Read(ctx context.Context, r *Reconciler, a *agentinstall.Agent) error {
	return r.read(ctx, &Inputs{Resource: a})
}
