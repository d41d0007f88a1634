package cli

import (
	"context"
	"io"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterCredentials struct{ clusterArgument }

// Run prints the console's address and its first user.
func (k *clusterCredentials) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	credentials, err := ask(
		ctx,
		&at.Connection,
		k,
		"read the credentials of",
		func(c *client.Client, found *wire.Cluster) (*wire.Credentials, error) {
			return c.Credentials(ctx, found.ID)
		},
	)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, credentials)
	}
	t.fields("Console", credentials.ConsoleURL, "User", credentials.Username, "Password", credentials.Password)
	return nil
}

type clusterKubeconfig struct {
	clusterArgument
	fileFlag
}

// Run downloads the kubeconfig.
func (k *clusterKubeconfig) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	content, err := ask(ctx, &at.Connection, k, "download the kubeconfig of", func(c *client.Client, found *wire.Cluster) ([]byte, error) {
		return c.ClusterCredentialsFile(ctx, found.ID, "kubeconfig")
	})
	if err != nil {
		return err
	}
	return k.write(t, "kubeconfig of "+k.name(), content)
}

type clusterLogs struct {
	clusterArgument
	fileFlag
	Host       string `xor:"of" help:"Only logs of this host: name or id."`
	Controller bool   `xor:"of" help:"Only logs of the controller in the new cluster."`
}

// Run downloads logs.
func (k *clusterLogs) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	if k.File == "" && t.Interactive {
		return usagef("require --file for an archive: standard output is a terminal")
	}
	return k.stream(t, "logs of "+k.name(), func(to io.Writer) error {
		_, err := ask(ctx, &at.Connection, k, "download the logs of", func(c *client.Client, found *wire.Cluster) (nothing, error) {
			kind, host := wire.LogsTypeAll, uuid.Nil
			if k.Controller {
				kind = wire.LogsTypeController
			}
			if k.Host != "" {
				h, err := scope{Cluster: found.ID.String()}.host(ctx, c, k.Host)
				if err != nil {
					return nothing{}, err
				}
				kind, host = wire.LogsTypeHost, h.ID
			}
			return nothing{}, c.ClusterLogs(ctx, found.ID, kind, host, to)
		})
		return err
	})
}
