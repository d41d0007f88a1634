package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// environment lists the variables that the service needs for the plan.
func environment(plan []clusterPlan) []string {
	var all []string
	for _, c := range plan {
		all = append(all, c.environment...)
	}
	return all
}

// showRefusals starts the service without the variables that clusters of the plan need, and shows that it refuses them.
func (d *demo) showRefusals(ctx context.Context, plan []clusterPlan) error {
	if len(environment(plan)) == 0 {
		return nil
	}
	d.board.say("starting the service as it is without %s", strings.Join(environment(plan), " "))
	var err error
	if d.service, err = startService(ctx, d, nil); err != nil {
		return err
	}
	defer d.service.stop()
	for n := range plan {
		if plan[n].refusal == "" {
			continue
		}
		c := &installation{demo: d, plan: plan[n], reported: map[uuid.UUID]wire.DateTime{}}
		if err := c.refused(ctx); err != nil {
			return err
		}
	}
	return nil
}

// refused defines the cluster and requires that its override of the install-config is refused with the sentence.
func (c *installation) refused(ctx context.Context) error {
	c.client = c.service.client
	cluster, err := c.register(ctx)
	if err != nil {
		return fmt.Errorf("define cluster %s: %w", c.plan.Name, err)
	}
	err = c.client.UpdateInstallConfig(ctx, cluster.ID, c.plan.override)
	if err == nil || !strings.Contains(err.Error(), c.plan.refusal) {
		return fmt.Errorf("cluster %s: require a refusal with %q, found %w", c.plan.Name, c.plan.refusal, orNone(err))
	}
	c.board.say("cluster %s is refused: %s", c.plan.Name, err)
	if err := c.client.DeleteCluster(ctx, cluster.ID); err != nil {
		return fmt.Errorf("delete cluster %s: %w", c.plan.Name, err)
	}
	return nil
}

func orNone(err error) error {
	if err == nil {
		return fmt.Errorf("none")
	}
	return err
}
