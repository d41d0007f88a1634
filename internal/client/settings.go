package client

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// ImportCluster takes in a cluster that was installed elsewhere, so that hosts can be
// added to it.
func (c *Client) ImportCluster(ctx context.Context, params wire.ImportClusterParams, options ...Option) (*wire.Cluster, error) {
	return c.cluster(ctx, call{method: http.MethodPost, path: "/v2/clusters/import", body: params, ok: http.StatusCreated}, options)
}

// SupportedPlatforms lists the platforms that every host of a cluster could run on.
func (c *Client) SupportedPlatforms(ctx context.Context, id uuid.UUID, options ...Option) ([]wire.PlatformType, error) {
	return read[[]wire.PlatformType](ctx, c, clusterPath(id)+"/supported-platforms", nil, options)
}

// Requirements reads what the hosts of a cluster must have, and what operators add to it.
func (c *Client) Requirements(ctx context.Context, id uuid.UUID, options ...Option) (wire.PreflightHardwareRequirements, error) {
	return read[wire.PreflightHardwareRequirements](ctx, c, clusterPath(id)+"/preflight-requirements", nil, options)
}

// IgnoredValidations reads which validations a cluster ignores: lists of ids as JSON in strings.
func (c *Client) IgnoredValidations(ctx context.Context, id uuid.UUID, options ...Option) (wire.IgnoredValidations, error) {
	return read[wire.IgnoredValidations](ctx, c, clusterPath(id)+"/ignored-validations", nil, options)
}

// IgnoreValidations sets which validations a cluster ignores, in place of those before.
func (c *Client) IgnoreValidations(
	ctx context.Context, id uuid.UUID, ignored wire.IgnoredValidations, options ...Option,
) (wire.IgnoredValidations, error) {
	var kept wire.IgnoredValidations
	err := c.do(ctx, call{
		method: http.MethodPut, path: clusterPath(id) + "/ignored-validations", body: ignored, ok: http.StatusCreated, into: &kept,
	}, options)
	return kept, err
}
