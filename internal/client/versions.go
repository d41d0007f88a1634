package client

import (
	"context"
	"net/url"
	"strconv"

	"slipway/internal/wire"
)

// OpenShiftVersions lists what can be installed, by version.
func (c *Client) OpenShiftVersions(ctx context.Context, onlyLatest bool, options ...Option) (wire.OpenshiftVersions, error) {
	return read[wire.OpenshiftVersions](
		ctx,
		c,
		"/v2/openshift-versions",
		url.Values{"only_latest": {strconv.FormatBool(onlyLatest)}},
		options,
	)
}
