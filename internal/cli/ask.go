package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/google/renameio/v2"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// argument names an object of the service.
type argument[F any] interface {
	name() string
	find(ctx context.Context, c *client.Client) (*F, error)
}

// ask puts a question to the service about what an argument names; doing says it in an error.
func ask[F, T any](ctx context.Context, at *Connection, a argument[F], doing string,
	question func(c *client.Client, found *F) (T, error),
) (answer T, err error) {
	c := at.Client()
	found, err := a.find(ctx, c)
	if err != nil {
		return answer, err
	}
	answer, err = question(c, found)
	return answer, failed(at.URL, doing+" "+a.name(), err)
}

// nothing is the answer of questions that only succeed or fail.
type nothing struct{}

// clusterArgument names the cluster of a command.
type clusterArgument struct {
	Cluster string `arg:"" help:"Name or id of the cluster."`
}

func (a clusterArgument) name() string { return "cluster " + a.Cluster }

func (a clusterArgument) find(ctx context.Context, c *client.Client) (*wire.Cluster, error) {
	return FindCluster(ctx, c, a.Cluster)
}

// hostArgument names the host of a command.
type hostArgument struct {
	Host string `arg:"" help:"Name or id of the host."`
	scope
}

func (a hostArgument) name() string { return "host " + a.Host }

func (a hostArgument) find(ctx context.Context, c *client.Client) (*wire.Host, error) {
	return a.host(ctx, c, a.Host)
}

// infraEnvArgument names the discovery environment of a command.
type infraEnvArgument struct {
	InfraEnv string `arg:"" help:"Name or id of the discovery environment."`
}

func (a infraEnvArgument) name() string { return "discovery environment " + a.InfraEnv }

func (a infraEnvArgument) find(ctx context.Context, c *client.Client) (*wire.InfraEnv, error) {
	return FindInfraEnv(ctx, c, a.InfraEnv)
}

// fileFlag is where a command writes what it downloads.
type fileFlag struct {
	File string `short:"f" type:"path" help:"File to write to; standard output if not given."`
}

// write puts a download where the user wants it; what says it.
func (f fileFlag) write(t *Terminal, what string, content []byte) error {
	return f.stream(t, what, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// stream is write for what is too big to hold. A file is there whole or not at all.
func (f fileFlag) stream(t *Terminal, what string, download func(to io.Writer) error) error {
	if f.File == "" {
		return download(t.Out)
	}
	file, err := renameio.NewPendingFile(f.File, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	defer func() { _ = file.Cleanup() }()
	if err := download(file); err != nil {
		return err
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	t.printf("%s: %s\n", what, f.File)
	return nil
}
