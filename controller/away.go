package controller

import (
	"context"
	"errors"
	"slices"

	"slipway/internal/client"
	"slipway/internal/model"
)

// approveWithoutService approves certificate requests while the service does not answer, by the cluster as it was last seen: nodes
// of hosts that have rebooted must not wait for the service. Refusals are left for the next round with the service, which
// records them. A service that refuses the token may have given the cluster up: nothing is approved then.
func (c *controller) approveWithoutService(ctx context.Context, cause error) {
	if c.known == nil || errors.Is(cause, client.ErrUnauthorized) {
		return
	}
	s := State{Cluster: ClusterOf(c.known)}
	if ended(s.Cluster.Status) || s.Cluster.Status == model.ClusterError {
		return
	}
	if err := c.observeKubelets(ctx, &s); err != nil {
		c.note(ctx, "look at certificate requests without the service", err)
		return
	}
	c.apply(ctx, Plan{Duties: slices.DeleteFunc(missingApprovals(s), func(a Action) bool {
		_, approves := a.(ApproveCSR)
		return !approves
	})})
}
