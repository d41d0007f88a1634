package demo

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim"
	"slipway/internal/wire"
)

// addHosts opens the installed cluster and brings the added machines into it, one by one
// as each is known.
func (c *installation) addHosts(ctx context.Context) error {
	if len(c.plan.added) == 0 {
		return nil
	}
	if _, err := c.client.AllowAddHosts(ctx, c.id); err != nil {
		return fmt.Errorf("open cluster %s for more hosts: %w", c.plan.Name, err)
	}
	c.board.say("cluster %s takes more hosts", c.plan.Name)
	var names []string
	for _, host := range c.plan.added {
		if err := c.boot(host); err != nil {
			return err
		}
		names = append(names, host.spec.Hostname)
	}
	if err := c.installAdded(ctx); err != nil {
		return err
	}
	if err := sim.AwaitNodes(ctx, c.place, lookEvery, names...); err != nil {
		return err
	}
	c.board.say("cluster %s has %d more nodes", c.plan.Name, len(names))
	return nil
}

// installAdded gives each host the order to install when it is known, until all joined.
func (c *installation) installAdded(ctx context.Context) error {
	ready := map[uuid.UUID]bool{}
	for added := 0; added < len(c.plan.added); {
		cluster, err := c.look(ctx)
		if err != nil {
			return err
		}
		if _, err := c.failures(ctx, cluster); err != nil {
			return err
		}
		added = 0
		for n := range cluster.Hosts {
			switch h := &cluster.Hosts[n]; {
			case h.Status == wire.HostStatusAddedToExistingCluster:
				added++
			case h.Kind == wire.HostKindAddToExistingClusterHost && h.Status == wire.HostStatusKnown && !ready[h.ID]:
				if _, err := c.client.InstallHost(ctx, h.InfraEnvID, h.ID); err != nil {
					return fmt.Errorf("install host %s: %w", view.HostName(h), err)
				}
				ready[h.ID] = true
			}
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}
