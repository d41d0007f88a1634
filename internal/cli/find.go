package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// FindCluster reads a cluster by its name or id, with its hosts.
func FindCluster(ctx context.Context, c *client.Client, name string) (*wire.Cluster, error) {
	doing := "find cluster " + name
	if id, err := uuid.Parse(name); err == nil {
		cluster, err := c.Cluster(ctx, id)
		return cluster, failed(c.BaseURL(), doing, err)
	}
	all, err := c.ListClusters(ctx, false)
	if err != nil {
		return nil, failed(c.BaseURL(), doing, err)
	}
	var ids []string
	for _, found := range all {
		if found.Name == name {
			ids = append(ids, found.ID.String())
		}
	}
	if len(ids) != 1 {
		return nil, ambiguous("cluster", name, ids)
	}
	cluster, err := c.Cluster(ctx, uuid.MustParse(ids[0]))
	return cluster, failed(c.BaseURL(), doing, err)
}

// FindInfraEnv reads a discovery environment by its name or id.
func FindInfraEnv(ctx context.Context, c *client.Client, name string) (*wire.InfraEnv, error) {
	all, err := c.ListInfraEnvs(ctx, uuid.Nil)
	if err != nil {
		return nil, failed(c.BaseURL(), "find discovery environment "+name, err)
	}
	var ids []string
	for n := range all {
		if all[n].Name == name || all[n].ID.String() == name {
			ids = append(ids, all[n].ID.String())
		}
	}
	if len(ids) != 1 {
		return nil, ambiguous("discovery environment", name, ids)
	}
	n := slices.IndexFunc(all, func(e wire.InfraEnv) bool { return e.ID.String() == ids[0] })
	return &all[n], nil
}

// scope narrows down which hosts are meant.
type scope struct {
	Cluster  string `help:"Only hosts of this cluster: its name or id."`
	InfraEnv string `name:"infra-env" help:"Only hosts of this discovery environment: its name or id."`
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
			return nil, failed(c.BaseURL(), "list the discovery environments", err)
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

// errNoHost says that no host of the scope has a name; one may still get it, when its
// agent tells it.
var errNoHost = errors.New("there is no host")

// ambiguous says that a name stands for none or for several.
func ambiguous(kind, name string, ids []string) error {
	if len(ids) == 0 {
		return &Failure{model.NotFoundf("there is no %s %s", kind, name), exitNotFound}
	}
	return &Failure{fmt.Errorf("%d of kind %s are called %s; give the id: %s", len(ids), kind, name, strings.Join(ids, ", ")), exitFailed}
}
