package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

func hostsPath(infraEnvID uuid.UUID) string {
	return "/v2/infra-envs/" + infraEnvID.String() + "/hosts"
}

func hostPath(infraEnvID, hostID uuid.UUID) string {
	return hostsPath(infraEnvID) + "/" + hostID.String()
}

// ListHosts lists the hosts of an InfraEnv.
func (c *Client) ListHosts(ctx context.Context, infraEnvID uuid.UUID, options ...Option) ([]wire.Host, error) {
	return read[[]wire.Host](ctx, c, hostsPath(infraEnvID), nil, options)
}

// Host reads one host.
func (c *Client) Host(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) (*wire.Host, error) {
	return c.host(ctx, call{method: http.MethodGet, path: hostPath(infraEnvID, hostID), ok: http.StatusOK}, options)
}

// UpdateHost changes a host.
func (c *Client) UpdateHost(
	ctx context.Context, infraEnvID, hostID uuid.UUID, params wire.HostUpdateParams, options ...Option,
) (*wire.Host, error) {
	return c.host(ctx, call{
		method: http.MethodPatch, path: hostPath(infraEnvID, hostID), body: params, ok: http.StatusCreated,
	}, options)
}

// DeleteHost deletes a host.
func (c *Client) DeleteHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.do(ctx, call{method: http.MethodDelete, path: hostPath(infraEnvID, hostID), ok: http.StatusNoContent}, options)
}

// ResetHost resets a host to discovery, or retries a failed one, alone.
func (c *Client) ResetHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) (*wire.Host, error) {
	return c.hostAction(ctx, infraEnvID, hostID, "reset", http.StatusOK, nil, options)
}

// InstallHost installs one host into an existing cluster.
func (c *Client) InstallHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) (*wire.Host, error) {
	return c.hostAction(ctx, infraEnvID, hostID, "install", http.StatusAccepted, nil, options)
}

// BindHost binds an unbound host to a cluster.
func (c *Client) BindHost(ctx context.Context, infraEnvID, hostID, clusterID uuid.UUID, options ...Option) (*wire.Host, error) {
	return c.hostAction(ctx, infraEnvID, hostID, "bind", http.StatusOK, wire.BindHostParams{ClusterID: clusterID}, options)
}

// UnbindHost unbinds a host from its cluster.
func (c *Client) UnbindHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) (*wire.Host, error) {
	return c.hostAction(ctx, infraEnvID, hostID, "unbind", http.StatusOK, nil, options)
}

// RecheckHost discards the stored result of a validation, so that the host is checked again.
func (c *Client) RecheckHost(
	ctx context.Context, infraEnvID, hostID uuid.UUID, id wire.HostValidationID, options ...Option,
) (*wire.Host, error) {
	return c.host(ctx, call{
		method: http.MethodPatch, path: hostPath(infraEnvID, hostID) + "/actions/reset-validation/" + url.PathEscape(string(id)),
		ok: http.StatusOK,
	}, options)
}

// SetInstallerArgs sets the arguments of the image writer for a host.
func (c *Client) SetInstallerArgs(ctx context.Context, infraEnvID, hostID uuid.UUID, args []string, options ...Option) (*wire.Host, error) {
	return c.host(ctx, call{
		method: http.MethodPatch, path: hostPath(infraEnvID, hostID) + "/installer-args", body: wire.InstallerArgsParams{Args: &args},
		ok: http.StatusCreated,
	}, options)
}

// SetHostIgnition sets the config that is merged with the Ignition a host is installed with; empty text removes
// it.
func (c *Client) SetHostIgnition(ctx context.Context, infraEnvID, hostID uuid.UUID, config string, options ...Option) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: hostPath(infraEnvID, hostID) + "/ignition", body: wire.HostIgnitionParams{Config: &config},
		ok: http.StatusCreated,
	}, options)
}

func (c *Client) hostAction(
	ctx context.Context, infraEnvID, hostID uuid.UUID, action string, ok int, body any, options []Option,
) (*wire.Host, error) {
	return c.host(ctx, call{
		method: http.MethodPost, path: hostPath(infraEnvID, hostID) + "/actions/" + action, body: body, ok: ok,
	}, options)
}

func (c *Client) host(ctx context.Context, k call, options []Option) (*wire.Host, error) {
	var host wire.Host
	k.into = &host
	if err := c.do(ctx, k, options); err != nil {
		return nil, err
	}
	return &host, nil
}

// HostIgnition downloads the Ignition a host is installed with. The path says infra-env,
// in the singular, unlike all others (docs/reference/wire.md, "Ignition of a host").
func (c *Client) HostIgnition(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) ([]byte, error) {
	return c.download(ctx, "/v2/infra-env/"+infraEnvID.String()+"/hosts/"+hostID.String()+"/downloads/ignition", nil, options)
}

func (c *Client) download(ctx context.Context, path string, query url.Values, options []Option) ([]byte, error) {
	var content []byte
	err := c.do(ctx, call{
		method: http.MethodGet, path: path, query: query, ok: http.StatusOK, into: &content, timeout: transferTimeout,
	}, options)
	return content, err
}
