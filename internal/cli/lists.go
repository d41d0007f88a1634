package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// listFlags narrow a list of clusters or hosts.
type listFlags struct {
	Name         string        `help:"Only those whose name contains this, in any case." placeholder:"TEXT"`
	UpdatedSince time.Duration `name:"updated-since" help:"Only those that changed in the time until now, such as 2h or 7d." placeholder:"DURATION"`
	Limit        int           `help:"How many at most; without it, all." placeholder:"NUMBER"`
}

func (f listFlags) check() error {
	if f.Limit < 0 {
		return usagef("--limit: require at least 0, which is all, found %d", f.Limit)
	}
	if f.UpdatedSince < 0 {
		return usagef("--updated-since: require a time such as 2h, found %s", f.UpdatedSince)
	}
	return nil
}

// since returns when the changes that are wanted begin; zero: any.
func (f listFlags) since(t *Terminal) time.Time { return beginOf(t, f.UpdatedSince) }

// beginOf returns when a time until now began; zero for no time.
func beginOf(t *Terminal, length time.Duration) time.Time {
	if length == 0 {
		return time.Time{}
	}
	return t.Now().Add(-length)
}

// wants reports whether an object of a service without filters is in the list.
func (f listFlags) wants(t *Terminal, name string, updated time.Time) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(f.Name)) && !updated.Before(f.since(t))
}

// first returns the objects of a list up to the limit.
func first[T any](f listFlags, all []T) []T {
	if f.Limit > 0 && len(all) > f.Limit {
		return all[:f.Limit]
	}
	return all
}

const (
	// listPageSize is how many objects are asked for at once.
	listPageSize = 200
	// wholePageSize is how many hosts are asked for at once with their inventories and connectivity.
	wholePageSize = 50
)

// pages reads a list page by page, up to a limit; zero: all of it.
func pages[T any](limit, size int, read func(client.Page) (items []T, next string, err error)) ([]T, error) {
	all, page := []T{}, client.Page{Limit: size}
	for {
		if limit > 0 {
			page.Limit = min(size, limit-len(all))
		}
		items, next, err := read(page)
		if err != nil {
			return nil, err
		}
		all, page.Token = append(all, items...), next
		if next == "" || limit > 0 && len(all) >= limit {
			return all, nil
		}
	}
}

// clusters lists the wanted clusters. An older service has no pages: all of its clusters are read.
func (k *clusterList) clusters(ctx context.Context, c *client.Client, t *Terminal) ([]wire.Cluster, error) {
	query := client.ClusterQuery{Statuses: k.Status, Name: k.Name, UpdatedSince: k.since(t)}
	clusters, err := pages(k.Limit, listPageSize, func(page client.Page) ([]wire.Cluster, string, error) {
		query.Page = page
		found, err := c.ClusterPage(ctx, query)
		return found.Clusters, found.NextPageToken, err
	})
	if !errors.Is(err, model.ErrNotFound) {
		return clusters, err
	}
	if clusters, err = c.ListClusters(ctx, false); err != nil {
		return nil, err
	}
	clusters = slices.DeleteFunc(clusters, func(c wire.Cluster) bool {
		return !k.wantsStatus(c.Status) || !k.wants(t, c.Name, c.UpdatedAt.Time())
	})
	return first(k.listFlags, clusters), nil
}

// find lists the wanted hosts, with inventories and connectivity when whole is set. Hosts of an older service are read as clusters are.
func (k *hostList) find(ctx context.Context, c *client.Client, t *Terminal, whole bool) ([]wire.Host, error) {
	query := client.HostQuery{Statuses: k.Status, Roles: k.Role, Name: k.Name, UpdatedSince: k.since(t), Whole: whole}
	var err error
	if query.ClusterID, query.InfraEnvID, err = k.ids(ctx, c); err != nil {
		return nil, err
	}
	size := listPageSize
	if whole {
		size = wholePageSize
	}
	hosts, err := pages(k.Limit, size, func(page client.Page) ([]wire.Host, string, error) {
		query.Page = page
		found, err := c.HostPage(ctx, query)
		return found.Hosts, found.NextPageToken, err
	})
	if !errors.Is(err, model.ErrNotFound) {
		return hosts, failed(c.BaseURL(), "list the hosts", err)
	}
	if hosts, err = k.hosts(ctx, c); err != nil {
		return nil, err
	}
	hosts = slices.DeleteFunc(hosts, func(h wire.Host) bool { return !k.wantsHost(&h, t) })
	if hosts == nil {
		hosts = []wire.Host{} // which is no null in JSON
	}
	return first(k.listFlags, hosts), nil
}

// ids finds the cluster and the InfraEnv of the scope; zero: any.
func (s scope) ids(ctx context.Context, c *client.Client) (cluster, infraEnv uuid.UUID, err error) {
	if s.Cluster != "" {
		cluster, err = clusterID(ctx, c, s.Cluster)
		return cluster, uuid.Nil, err
	}
	if s.InfraEnv == "" {
		return uuid.Nil, uuid.Nil, nil
	}
	env, err := FindInfraEnv(ctx, c, s.InfraEnv)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	return uuid.Nil, env.ID, nil
}
