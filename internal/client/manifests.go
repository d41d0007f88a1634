package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

func manifestsPath(clusterID uuid.UUID) string { return clusterPath(clusterID) + "/manifests" }

// ListManifests lists the manifests users added to an installation, with generated the service's
// too.
func (c *Client) ListManifests(ctx context.Context, clusterID uuid.UUID, generated bool, options ...Option) ([]wire.Manifest, error) {
	return read[[]wire.Manifest](ctx, c, manifestsPath(clusterID),
		url.Values{"include_system_generated": {strconv.FormatBool(generated)}}, options)
}

// Manifest downloads the content of a manifest from its folder, manifests or openshift.
func (c *Client) Manifest(ctx context.Context, clusterID uuid.UUID, folder, name string, options ...Option) ([]byte, error) {
	return c.download(ctx, manifestsPath(clusterID)+"/files", url.Values{"folder": {folder}, "file_name": {name}}, options)
}

// CreateManifest adds a manifest; its content is base64.
func (c *Client) CreateManifest(
	ctx context.Context, clusterID uuid.UUID, params wire.CreateManifestParams, options ...Option,
) (*wire.Manifest, error) {
	var manifest wire.Manifest
	err := c.do(ctx, call{
		method: http.MethodPost, path: manifestsPath(clusterID), body: params, ok: http.StatusCreated, into: &manifest,
	}, options)
	if err != nil {
		return nil, err
	}
	return &manifest, nil
}

// DeleteManifest removes a manifest from its folder, manifests or openshift.
func (c *Client) DeleteManifest(ctx context.Context, clusterID uuid.UUID, folder, name string, options ...Option) error {
	return c.do(ctx, call{
		method: http.MethodDelete, path: manifestsPath(clusterID),
		query: url.Values{"folder": {folder}, "file_name": {name}}, ok: http.StatusOK,
	}, options)
}
