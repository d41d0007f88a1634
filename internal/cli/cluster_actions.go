package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// action is an operation on one cluster that answers with it.
type action func(c *client.Client, ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)

func (a clusterArgument) act(ctx context.Context, at *ClusterCommands, t *Terminal, verb string, do action) error {
	c := at.Client()
	cluster, err := FindCluster(ctx, c, a.Cluster)
	if err != nil {
		return err
	}
	if cluster, err = do(c, ctx, cluster.ID); err != nil {
		return failed(at.URL, verb+" cluster "+a.Cluster, err)
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
	return waitCluster{Cluster: k.Cluster, For: string(wire.ClusterStatusInstalled), Timeout: k.Timeout}.wait(ctx, &at.Connection, t)
}

type clusterCancel struct{ clusterArgument }

// Run stops an installation.
func (k *clusterCancel) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "cancel the installation of", (*client.Client).CancelCluster)
}

type clusterReset struct{ clusterArgument }

// Run takes a cluster back to discovery.
func (k *clusterReset) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "reset", (*client.Client).ResetCluster)
}

type clusterDelete struct{ clusterArgument }

// Run forgets a cluster.
func (k *clusterDelete) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := FindCluster(ctx, c, k.Cluster)
	if err != nil {
		return err
	}
	if err := c.DeleteCluster(ctx, cluster.ID); err != nil {
		return failed(at.URL, "delete cluster "+k.Cluster, err)
	}
	if !at.json() {
		t.printf("cluster %s deleted\n", cluster.Name)
	}
	return nil
}

type clusterCredentials struct{ clusterArgument }

// Run prints the console's address and its first user.
func (k *clusterCredentials) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := FindCluster(ctx, c, k.Cluster)
	if err != nil {
		return err
	}
	credentials, err := c.Credentials(ctx, cluster.ID)
	if err != nil {
		return failed(at.URL, "read the credentials of "+k.Cluster, err)
	}
	if at.json() {
		return t.json(credentials)
	}
	t.fields("Console", credentials.ConsoleURL, "User", credentials.Username, "Password", credentials.Password)
	return nil
}

type clusterKubeconfig struct {
	clusterArgument
	File string `short:"f" type:"path" help:"File to write to; standard output if not given."`
}

// Run downloads the kubeconfig.
func (k *clusterKubeconfig) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := FindCluster(ctx, c, k.Cluster)
	if err != nil {
		return err
	}
	content, err := c.ClusterCredentialsFile(ctx, cluster.ID, "kubeconfig")
	if err != nil {
		return failed(at.URL, "download the kubeconfig of "+k.Cluster, err)
	}
	if k.File == "" {
		t.printf("%s", content)
		return nil
	}
	if err := os.WriteFile(k.File, content, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	t.printf("kubeconfig of cluster %s: %s\n", cluster.Name, k.File)
	return nil
}
