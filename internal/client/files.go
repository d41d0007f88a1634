package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// ClusterFile downloads a file of the installation: bootstrap.ign, custom_manifests.json...
func (c *Client) ClusterFile(ctx context.Context, clusterID uuid.UUID, name string, options ...Option) ([]byte, error) {
	return c.download(ctx, clusterPath(clusterID)+"/downloads/files", url.Values{"file_name": {name}}, options)
}

// ClusterCredentialsFile downloads kubeconfig, kubeconfig-noingress or kubeadmin-password.
func (c *Client) ClusterCredentialsFile(
	ctx context.Context, clusterID uuid.UUID, name string, options ...Option,
) ([]byte, error) {
	return c.download(ctx, clusterPath(clusterID)+"/downloads/credentials", url.Values{"file_name": {name}}, options)
}

// Credentials reads the console address and the first user of an installed cluster.
func (c *Client) Credentials(ctx context.Context, clusterID uuid.UUID, options ...Option) (*wire.Credentials, error) {
	var credentials wire.Credentials
	err := c.do(ctx, call{
		method: http.MethodGet, path: clusterPath(clusterID) + "/credentials", ok: http.StatusOK, into: &credentials,
	}, options)
	if err != nil {
		return nil, err
	}
	return &credentials, nil
}

// InstallConfig reads the install-config of a cluster.
func (c *Client) InstallConfig(ctx context.Context, clusterID uuid.UUID, options ...Option) (string, error) {
	return read[string](ctx, c, clusterPath(clusterID)+"/install-config", nil, options)
}

// UpdateInstallConfig sets the overrides of an install-config; overrides is a JSON object.
func (c *Client) UpdateInstallConfig(ctx context.Context, clusterID uuid.UUID, overrides string, options ...Option) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: clusterPath(clusterID) + "/install-config", body: overrides, ok: http.StatusCreated,
	}, options)
}
