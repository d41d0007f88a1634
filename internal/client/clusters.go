package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

func clusterPath(id uuid.UUID) string { return "/v2/clusters/" + id.String() }

// RegisterCluster makes a cluster.
func (c *Client) RegisterCluster(ctx context.Context, params wire.ClusterCreateParams, options ...Option) (*wire.Cluster, error) {
	return c.cluster(ctx, call{method: http.MethodPost, path: "/v2/clusters", body: params, ok: http.StatusCreated}, options)
}

// ListClusters lists all clusters, without their hosts unless withHosts.
func (c *Client) ListClusters(ctx context.Context, withHosts bool, options ...Option) ([]wire.Cluster, error) {
	return read[[]wire.Cluster](ctx, c, "/v2/clusters", url.Values{"with_hosts": {strconv.FormatBool(withHosts)}}, options)
}

// Cluster reads one cluster with its hosts.
func (c *Client) Cluster(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.cluster(ctx, call{method: http.MethodGet, path: clusterPath(id), ok: http.StatusOK}, options)
}

// ClusterWithoutHosts reads one cluster, its hosts left out.
func (c *Client) ClusterWithoutHosts(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.cluster(ctx, call{
		method: http.MethodGet, path: clusterPath(id), query: url.Values{"exclude-hosts": {"true"}}, ok: http.StatusOK,
	}, options)
}

// ClusterHosts lists the hosts of a cluster, of one role unless role is empty.
func (c *Client) ClusterHosts(ctx context.Context, id uuid.UUID, role wire.HostRole, options ...Option) ([]wire.Host, error) {
	query := url.Values{}
	if role != "" {
		query.Set("role", string(role))
	}
	return read[[]wire.Host](ctx, c, clusterPath(id)+"/hosts", query, options)
}

// ClusterInventories lists the hosts of a cluster with their inventories, some tens of KiB a host.
func (c *Client) ClusterInventories(ctx context.Context, id uuid.UUID, options ...Option) ([]wire.Host, error) {
	return read[[]wire.Host](ctx, c, clusterPath(id)+"/hosts", url.Values{"with-inventory": {"true"}}, options)
}

// UpdateCluster changes a cluster.
func (c *Client) UpdateCluster(
	ctx context.Context, id uuid.UUID, params wire.V2ClusterUpdateParams, options ...Option,
) (*wire.Cluster, error) {
	return c.cluster(ctx, call{
		method: http.MethodPatch, path: clusterPath(id), body: params, ok: http.StatusCreated,
	}, options)
}

// DeleteCluster deletes a cluster that is not being installed.
func (c *Client) DeleteCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.do(ctx, call{method: http.MethodDelete, path: clusterPath(id), ok: http.StatusNoContent}, options)
}

// InstallCluster starts the installation of a ready cluster.
func (c *Client) InstallCluster(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.clusterAction(ctx, id, "install", options)
}

// CancelCluster stops a running installation.
func (c *Client) CancelCluster(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.clusterAction(ctx, id, "cancel", options)
}

// ResetCluster resets a stopped or failed installation to discovery.
func (c *Client) ResetCluster(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.clusterAction(ctx, id, "reset", options)
}

// AllowAddHosts opens an installed cluster for more hosts.
func (c *Client) AllowAddHosts(ctx context.Context, id uuid.UUID, options ...Option) (*wire.Cluster, error) {
	return c.clusterAction(ctx, id, "allow-add-hosts", options)
}

func (c *Client) clusterAction(ctx context.Context, id uuid.UUID, action string, options []Option) (*wire.Cluster, error) {
	return c.cluster(ctx, call{
		method: http.MethodPost, path: clusterPath(id) + "/actions/" + action, ok: http.StatusAccepted,
	}, options)
}

func (c *Client) cluster(ctx context.Context, k call, options []Option) (*wire.Cluster, error) {
	var cluster wire.Cluster
	k.into = &cluster
	if err := c.do(ctx, k, options); err != nil {
		return nil, err
	}
	return &cluster, nil
}
