package client

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// PauseCluster lets every host of a running installation finish its stage and wait.
func (c *Client) PauseCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "pause", options)
}

// ResumeCluster lets paused hosts go on.
func (c *Client) ResumeCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "resume", options)
}

// ExtendCluster gives an installation whose finalizing timed out its time once more.
func (c *Client) ExtendCluster(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.command(ctx, clusterPath(id), "extend", options)
}

// RetryHost starts a host again that failed, from its first stage.
func (c *Client) RetryHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "retry", options)
}

// RetryHostStep starts only the stage again that a host failed in.
func (c *Client) RetryHostStep(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "retry-step", options)
}

// EvictHost lets the installation go on without a host that failed.
func (c *Client) EvictHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "evict", options)
}

// ReclaimHost takes a host out of its cluster; an installed one boots the discovery image
// it fetches, back to its discovery environment.
func (c *Client) ReclaimHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option) error {
	return c.command(ctx, hostPath(infraEnvID, hostID), "reclaim", options)
}

// Workflow tells where the workflow of a running installation stands; a model.ErrNotFound
// says that none runs.
func (c *Client) Workflow(ctx context.Context, clusterID uuid.UUID, options ...Option) (*wire.WorkflowState, error) {
	var state wire.WorkflowState
	err := c.do(ctx, call{
		method: http.MethodGet, own: true, path: ownVersion(clusterPath(clusterID)) + "/workflow", ok: http.StatusOK, into: &state,
	}, options)
	if err != nil {
		return nil, err
	}
	return &state, nil
}

func (c *Client) command(ctx context.Context, object, name string, options []Option) error {
	return c.do(ctx, call{
		method: http.MethodPost, own: true, path: ownVersion(object) + "/commands/" + name, ok: http.StatusAccepted,
	}, options)
}

// ownVersion is the path of an object in our own API: /v1 where the contract has /v2.
func ownVersion(path string) string { return "/v1" + strings.TrimPrefix(path, "/v2") }
