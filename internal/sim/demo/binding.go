package demo

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// bindAll binds each host of the pool to the cluster once it may be.
func (c *installation) bindAll(ctx context.Context) error {
	bound := map[uuid.UUID]bool{}
	for len(bound) < len(c.plan.hosts) {
		hosts, err := c.client.ListHosts(ctx, c.infraEnv, client.WithRetry(callLimit))
		if err != nil {
			return err
		}
		for n := range hosts {
			h := &hosts[n]
			if bound[h.ID] || h.Status != wire.HostStatusKnownUnbound {
				continue
			}
			if _, err := c.client.BindHost(ctx, c.infraEnv, h.ID, c.id); err != nil {
				return fmt.Errorf("bind host %s: %w", view.HostName(h), err)
			}
			c.board.say("host %s of the pool is bound to cluster %s", view.HostName(h), c.plan.Name)
			bound[h.ID] = true
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}
