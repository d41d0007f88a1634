package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"slipway/internal/wire"
)

// OpenShiftVersions lists what can be installed, by version.
func (c *Client) OpenShiftVersions(ctx context.Context, onlyLatest bool, options ...Option) (wire.OpenshiftVersions, error) {
	versions := wire.OpenshiftVersions{}
	err := c.do(ctx, call{
		method: http.MethodGet, path: "/v2/openshift-versions",
		query: url.Values{"only_latest": {strconv.FormatBool(onlyLatest)}}, ok: http.StatusOK, into: &versions,
	}, options)
	return versions, err
}
