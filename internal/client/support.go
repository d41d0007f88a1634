package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"slipway/internal/wire"
)

// Setting narrows down what is asked about; its empty fields do not.
type Setting struct {
	Version      string // OpenShift: 4.20
	Architecture string // x86_64, arm64...
	Platform     string // baremetal, none...
	ExternalName string // of platform external
}

func (s Setting) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"openshift_version": s.Version, "cpu_architecture": s.Architecture, "platform_type": s.Platform,
		"external_platform_name": s.ExternalName,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// Support reports how well each feature and operator is supported in a setting.
type Support struct {
	Features  []wire.Feature  `json:"features"`
	Operators []wire.Operator `json:"operators"`
}

// SupportLevels reads how well everything is supported; the setting must have a version.
func (c *Client) SupportLevels(ctx context.Context, in Setting, options ...Option) (Support, error) {
	return read[Support](ctx, c, "/v2/support-levels/features/detailed", in.values(), options)
}

// OperatorNames lists the operators that can be installed with a cluster.
func (c *Client) OperatorNames(ctx context.Context, options ...Option) ([]string, error) {
	return read[[]string](ctx, c, "/v2/supported-operators", nil, options)
}

// OperatorProperties lists what can be set of an operator.
func (c *Client) OperatorProperties(ctx context.Context, name string, options ...Option) (wire.OperatorProperties, error) {
	return read[wire.OperatorProperties](ctx, c, "/v2/supported-operators/"+url.PathEscape(name), nil, options)
}

// Bundles lists the bundles of operators that can be used in a setting.
func (c *Client) Bundles(ctx context.Context, in Setting, options ...Option) ([]wire.Bundle, error) {
	return read[[]wire.Bundle](ctx, c, "/v2/operators/bundles", in.values(), options)
}

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

// OSImages lists the live images of the operating system that hosts can boot, newest first.
func (c *Client) OSImages(ctx context.Context, options ...Option) ([]wire.LiveImage, error) {
	var images []wire.LiveImage
	err := c.do(ctx, call{method: http.MethodGet, own: true, path: "/v1/os-images", ok: http.StatusOK, into: &images}, options)
	return images, err
}
