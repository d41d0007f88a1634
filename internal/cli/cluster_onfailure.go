package cli

import (
	"context"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterOnFailure struct {
	clusterArgument
	Policy *string `arg:"" optional:"" enum:"wait,fail,default" help:"wait: for retry, retry-step or evict; fail: at once; default: as the service does. Shown if not given."`
}

// Run sets or prints what the installation of a cluster does when a host fails.
func (k *clusterOnFailure) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	change := func(c *client.Client, found *wire.Cluster) (wire.OnFailure, error) {
		if k.Policy == nil {
			return c.OnFailure(ctx, found.ID)
		}
		return c.SetOnFailure(ctx, found.ID, wire.OnFailure{OnFailure: *k.Policy})
	}
	policy, err := ask(ctx, &at.Connection, k, "set what follows a failure of", change)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, policy)
	}
	switch policy.OnFailure {
	case "fail":
		t.printf("%s: a host that fails is given up at once, and with too few of them the installation fails\n", k.name())
	case "wait":
		t.printf("%s: a host that fails waits for retry, retry-step or evict\n", k.name())
	default:
		t.printf("%s: as the service does: a host that fails waits, unless its --decision-timeout is zero\n", k.name())
	}
	return nil
}
