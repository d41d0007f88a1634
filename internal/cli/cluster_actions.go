package cli

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// action is an operation on one cluster that returns it.
type action func(c *client.Client, ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)

func (a clusterArgument) act(ctx context.Context, at *ClusterCommands, t *Terminal, verb string, do action) error {
	cluster, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.Cluster) (*wire.Cluster, error) {
		return do(c, ctx, found.ID)
	})
	if err != nil {
		return err
	}
	if at.json() {
		return t.json(cluster)
	}
	t.printf("cluster %s: %s\n", cluster.Name, cluster.Status)
	return nil
}

type clusterInstall struct {
	clusterArgument
	Wait    bool          `help:"Wait until the cluster is installed."`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

// Run starts an installation.
func (k *clusterInstall) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	if err := k.act(ctx, at, t, "install", (*client.Client).InstallCluster); err != nil || !k.Wait {
		return err
	}
	return waitCluster{k.clusterArgument, waitFlags{string(wire.ClusterStatusInstalled), k.Timeout}}.wait(ctx, &at.Connection, t)
}

type clusterCancel struct{ clusterArgument }

// Run stops an installation.
func (k *clusterCancel) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "cancel the installation of", (*client.Client).CancelCluster)
}

type clusterReset struct{ clusterArgument }

// Run resets a cluster to discovery.
func (k *clusterReset) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "reset", (*client.Client).ResetCluster)
}

type clusterAddHosts struct{ clusterArgument }

// Run opens an installed cluster for more hosts.
func (k *clusterAddHosts) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "add hosts to", (*client.Client).AllowAddHosts)
}

type clusterDelete struct{ clusterArgument }

// Run deletes a cluster.
func (k *clusterDelete) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := ask(ctx, &at.Connection, k, "delete", func(c *client.Client, found *wire.Cluster) (*wire.Cluster, error) {
		return found, c.DeleteCluster(ctx, found.ID)
	})
	if err == nil && !at.json() {
		t.printf("cluster %s deleted\n", cluster.Name)
	}
	return err
}

type clusterImport struct {
	Name    string    `arg:"" help:"Name of the cluster."`
	APIName string    `name:"api-name" required:"" help:"Name or address of its API: api.lab.example.com." placeholder:"NAME"`
	ID      uuid.UUID `name:"id" required:"" help:"Its own id: oc get clusterversion version -o jsonpath={.spec.clusterID}" placeholder:"UUID"`
	Version *string   `help:"Its OpenShift version." placeholder:"4.20"`
}

// Run imports a cluster that was installed elsewhere.
func (k *clusterImport) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := at.Client().ImportCluster(ctx, wire.ImportClusterParams{
		Name: k.Name, APIVipDnsname: k.APIName, OpenshiftClusterID: k.ID, OpenshiftVersion: k.Version,
	})
	if err != nil {
		return failed(at.URL, "import cluster "+k.Name, err)
	}
	if at.json() {
		return t.json(cluster)
	}
	t.printf("cluster %s imported: %s\n", cluster.Name, cluster.ID)
	return nil
}
