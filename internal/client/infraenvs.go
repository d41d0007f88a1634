package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

func infraEnvPath(id uuid.UUID) string { return "/v2/infra-envs/" + id.String() }

// RegisterInfraEnv makes an InfraEnv.
func (c *Client) RegisterInfraEnv(
	ctx context.Context, params wire.InfraEnvCreateParams, options ...Option,
) (*wire.InfraEnv, error) {
	return c.infraEnv(ctx, call{method: http.MethodPost, path: "/v2/infra-envs", body: params, ok: http.StatusCreated}, options)
}

// ListInfraEnvs lists the InfraEnvs, of one cluster unless clusterID is zero.
func (c *Client) ListInfraEnvs(ctx context.Context, clusterID uuid.UUID, options ...Option) ([]wire.InfraEnv, error) {
	query := url.Values{}
	if clusterID != uuid.Nil {
		query.Set("cluster_id", clusterID.String())
	}
	return read[[]wire.InfraEnv](ctx, c, "/v2/infra-envs", query, options)
}

// InfraEnv reads one InfraEnv.
func (c *Client) InfraEnv(ctx context.Context, id uuid.UUID, options ...Option) (*wire.InfraEnv, error) {
	return c.infraEnv(ctx, call{method: http.MethodGet, path: infraEnvPath(id), ok: http.StatusOK}, options)
}

// UpdateInfraEnv changes an InfraEnv.
func (c *Client) UpdateInfraEnv(
	ctx context.Context, id uuid.UUID, params wire.InfraEnvUpdateParams, options ...Option,
) (*wire.InfraEnv, error) {
	return c.infraEnv(ctx, call{method: http.MethodPatch, path: infraEnvPath(id), body: params, ok: http.StatusCreated}, options)
}

// ImageURL makes an address at which the discovery image can be downloaded until it expires.
func (c *Client) ImageURL(ctx context.Context, id uuid.UUID, options ...Option) (wire.PresignedURL, error) {
	return read[wire.PresignedURL](ctx, c, infraEnvPath(id)+"/downloads/image-url", nil, options)
}

// InfraEnvFileURL makes an address at which one file can be downloaded until it expires:
// discovery.ign or ipxe-script.
func (c *Client) InfraEnvFileURL(ctx context.Context, id uuid.UUID, file string, options ...Option) (wire.PresignedURL, error) {
	return read[wire.PresignedURL](ctx, c, infraEnvPath(id)+"/downloads/files-presigned", url.Values{"file_name": {file}}, options)
}

// RotateKey replaces the key that signs addresses of images; earlier ones become invalid.
func (c *Client) RotateKey(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.do(ctx, call{method: http.MethodPost, path: infraEnvPath(id) + "/regenerate-signing-key", ok: http.StatusNoContent}, options)
}

// DeleteInfraEnv deletes an InfraEnv and its hosts without a cluster.
func (c *Client) DeleteInfraEnv(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.do(ctx, call{method: http.MethodDelete, path: infraEnvPath(id), ok: http.StatusNoContent}, options)
}

// DiscoveryIgnition downloads the Ignition the hosts of an InfraEnv boot with.
func (c *Client) DiscoveryIgnition(ctx context.Context, id uuid.UUID, options ...Option) ([]byte, error) {
	return c.download(ctx, infraEnvPath(id)+"/downloads/files", url.Values{"file_name": {"discovery.ign"}}, options)
}

func (c *Client) infraEnv(ctx context.Context, k call, options []Option) (*wire.InfraEnv, error) {
	var env wire.InfraEnv
	k.into = &env
	if err := c.do(ctx, k, options); err != nil {
		return nil, err
	}
	return &env, nil
}
