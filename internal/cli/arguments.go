package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// argument names an object of the service.
type argument[F any] interface {
	name() string
	find(ctx context.Context, c *client.Client) (*F, error)
}

// ask resolves the argument and runs a request against it; doing labels errors.
func ask[F, T any](ctx context.Context, at *Connection, a argument[F], doing string,
	request func(c *client.Client, found *F) (T, error),
) (reply T, err error) {
	c := at.Client()
	found, err := a.find(ctx, c)
	if err != nil {
		return reply, err
	}
	reply, err = request(c, found)
	return reply, failed(at.URL, doing+" "+a.name(), err)
}

// nothing is the result of requests that only succeed or fail.
type nothing struct{}

// clusterArgument names the cluster of a command.
type clusterArgument struct {
	Cluster string `arg:"" predictor:"cluster" help:"Name or id of the cluster."`
}

func (a clusterArgument) name() string { return "cluster " + a.Cluster }

func (a clusterArgument) find(ctx context.Context, c *client.Client) (*wire.Cluster, error) {
	return FindCluster(ctx, c, a.Cluster)
}

// hostArgument names the host of a command.
type hostArgument struct {
	Host string `arg:"" predictor:"host" help:"Name or id of the host."`
	scope
}

func (a hostArgument) name() string { return "host " + a.Host }

func (a hostArgument) find(ctx context.Context, c *client.Client) (*wire.Host, error) {
	return a.host(ctx, c, a.Host)
}

// infraEnvArgument names the InfraEnv of a command.
type infraEnvArgument struct {
	InfraEnv string `arg:"" predictor:"infra-env" help:"Name or id of the InfraEnv."`
}

func (a infraEnvArgument) name() string { return "InfraEnv " + a.InfraEnv }

func (a infraEnvArgument) find(ctx context.Context, c *client.Client) (*wire.InfraEnv, error) {
	return FindInfraEnv(ctx, c, a.InfraEnv)
}

// fileFlag is where a command writes what it downloads.
type fileFlag struct {
	File string `short:"f" type:"path" help:"File to write to; standard output if not given."`
}

// write writes a download to the place the user chose; what names it in errors.
func (f fileFlag) write(t *Terminal, what string, content []byte) error {
	return f.stream(t, what, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// stream works as write, for content that is too big to hold in memory. A file appears whole or not at all.
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

// FindCluster reads a cluster by its name or id, with its hosts.
func FindCluster(ctx context.Context, c *client.Client, name string) (*wire.Cluster, error) {
	name = strings.TrimPrefix(name, kindCluster)
	doing := "find cluster " + name
	if id, err := uuid.Parse(name); err == nil {
		cluster, err := c.Cluster(ctx, id)
		return cluster, failed(c.BaseURL(), doing, err)
	}
	found, err := clusterNamed(ctx, c, name)
	if err != nil {
		return nil, err
	}
	cluster, err := c.Cluster(ctx, found.ID)
	return cluster, failed(c.BaseURL(), doing, err)
}

// clusterNamed finds a cluster by its name, without its hosts.
func clusterNamed(ctx context.Context, c *client.Client, name string) (*wire.Cluster, error) {
	all, err := c.ListClusters(ctx, false)
	if err != nil {
		return nil, failed(c.BaseURL(), "find cluster "+name, err)
	}
	return only("cluster", name, all, func(c *wire.Cluster) (string, bool) { return c.ID.String(), c.Name == name })
}

// FindInfraEnv reads an InfraEnv by its name or id.
func FindInfraEnv(ctx context.Context, c *client.Client, name string) (*wire.InfraEnv, error) {
	name = strings.TrimPrefix(name, kindInfraEnv)
	all, err := c.ListInfraEnvs(ctx, uuid.Nil)
	if err != nil {
		return nil, failed(c.BaseURL(), "find InfraEnv "+name, err)
	}
	return only("InfraEnv", name, all, func(e *wire.InfraEnv) (string, bool) {
		return e.ID.String(), e.Name == name || e.ID.String() == name
	})
}

// only returns the object that is called by a name; is returns the id of an object, and whether it is called so.
func only[T any](kind, name string, all []T, is func(*T) (id string, called bool)) (found *T, err error) {
	var ids []string
	for n := range all {
		if id, called := is(&all[n]); called {
			found, ids = &all[n], append(ids, id)
		}
	}
	if len(ids) != 1 {
		return nil, ambiguous(kind, name, ids)
	}
	return found, nil
}

// scope narrows the hosts of a command.
type scope struct {
	Cluster  string `predictor:"cluster" help:"Only hosts of this cluster: its name or id."`
	InfraEnv string `name:"infra-env" predictor:"infra-env" help:"Only hosts of this InfraEnv: its name or id."`
}

// hosts lists the hosts of the scope.
func (s scope) hosts(ctx context.Context, c *client.Client) ([]wire.Host, error) {
	if s.Cluster != "" {
		cluster, err := FindCluster(ctx, c, s.Cluster)
		if err != nil {
			return nil, err
		}
		return cluster.Hosts, nil
	}
	var envs []wire.InfraEnv
	if s.InfraEnv != "" {
		env, err := FindInfraEnv(ctx, c, s.InfraEnv)
		if err != nil {
			return nil, err
		}
		envs = []wire.InfraEnv{*env}
	} else {
		all, err := c.ListInfraEnvs(ctx, uuid.Nil)
		if err != nil {
			return nil, failed(c.BaseURL(), "list the InfraEnvs", err)
		}
		envs = all
	}
	var hosts []wire.Host
	for _, env := range envs {
		found, err := c.ListHosts(ctx, env.ID)
		if err != nil {
			return nil, failed(c.BaseURL(), "list the hosts of "+env.Name, err)
		}
		hosts = append(hosts, found...)
	}
	return hosts, nil
}

// host reads the one host of the scope that has a name or id.
func (s scope) host(ctx context.Context, c *client.Client, name string) (*wire.Host, error) {
	name = strings.TrimPrefix(name, kindHost)
	hosts, err := s.hosts(ctx, c)
	if err != nil {
		return nil, err
	}
	var ids []string
	at := 0
	for n := range hosts {
		if hosts[n].ID.String() == name || view.HostName(&hosts[n]) == name {
			ids = append(ids, hosts[n].ID.String())
			at = n
		}
	}
	if len(ids) == 0 {
		return nil, &Failure{fmt.Errorf("%w %s", errNoHost, name), exitNotFound}
	}
	if len(ids) > 1 {
		return nil, ambiguous("host", name, ids)
	}
	return &hosts[at], nil
}

// errNoHost means that no host of the scope has a name; one may still get it, when its agent reports it.
var errNoHost = errors.New("there is no host")

// ambiguous returns the error for a name that matches none or several.
func ambiguous(kind, name string, ids []string) error {
	if len(ids) == 0 {
		return &Failure{model.NotFoundf("there is no %s %s", kind, name), exitNotFound}
	}
	return &Failure{fmt.Errorf("%d of kind %s are called %s; give the id: %s", len(ids), kind, name, strings.Join(ids, ", ")), exitFailed}
}
