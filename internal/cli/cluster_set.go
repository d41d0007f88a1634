package cli

import (
	"context"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterSet struct {
	clusterArgument
	Name    *string `help:"New name of the cluster."`
	APIName *string `name:"api-name" help:"Name or address at which joining hosts reach the API of the cluster." placeholder:"NAME"`
	clusterFlags
}

// Run changes a cluster.
func (k *clusterSet) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	flags, err := k.params()
	if err != nil {
		return err
	}
	flags.Name, flags.APIVipDNSName = k.Name, k.APIName
	params, err := define[wire.V2ClusterUpdateParams](k.From, flags)
	if err != nil {
		return err
	}
	if params == (wire.V2ClusterUpdateParams{}) {
		return usagef("require a flag with what to change, or --from")
	}
	cluster, err := ask(ctx, &at.Connection, k, "change", func(c *client.Client, found *wire.Cluster) (*wire.Cluster, error) {
		return c.UpdateCluster(ctx, found.ID, params)
	})
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, cluster)
	}
	t.printf("cluster %s changed\n", cluster.Name)
	return nil
}
