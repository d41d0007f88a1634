package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// RegisterHost registers a host; repeating it registers the same host again.
func (c *Client) RegisterHost(
	ctx context.Context, infraEnvID, hostID uuid.UUID, options ...Option,
) (*wire.HostRegistrationResponse, error) {
	params := wire.HostCreateParams{HostID: hostID}
	if c.options.AgentVersion != "" {
		params.DiscoveryAgentVersion = &c.options.AgentVersion
	}
	var host wire.HostRegistrationResponse
	err := c.do(ctx, call{
		method: http.MethodPost, path: hostsPath(infraEnvID), body: params, ok: http.StatusCreated, into: &host, header: c.takeToken,
	}, options)
	if err != nil {
		return nil, err
	}
	return &host, nil
}

// takeToken uses the token that an answer gives the host.
func (c *Client) takeToken(h http.Header) {
	if token := h.Get(wire.HeaderToken); token != "" && !c.options.IgnoreHostToken {
		c.SetToken(model.Secret(token))
	}
}

// Poll is the reply to a request for steps.
type Poll struct {
	wire.Steps
	// Held means that the service supports WithWait: it answered when a step was due or the wait was over, and
	// expects the next poll at once.
	Held bool
}

// NextSteps fetches the steps a host has to run; at is the host's clock. With WithWait
// the service may hold the request until a step is due.
func (c *Client) NextSteps(ctx context.Context, infraEnvID, hostID uuid.UUID, at time.Time, options ...Option) (*Poll, error) {
	var poll Poll
	err := c.do(ctx, call{
		method: http.MethodGet, path: hostPath(infraEnvID, hostID) + "/instructions",
		query: url.Values{"timestamp": {strconv.FormatInt(at.Unix(), 10)}},
		ok:    http.StatusOK, into: &poll.Steps,
		header: func(h http.Header) {
			poll.Held = strings.Contains(h.Get("Preference-Applied"), "wait")
			c.takeToken(h)
		},
	}, options)
	if err != nil {
		return nil, err
	}
	return &poll, nil
}

// PostReply sends the result of a step; the same reply may be sent again.
func (c *Client) PostReply(ctx context.Context, infraEnvID, hostID uuid.UUID, reply wire.StepReply, options ...Option) error {
	return c.do(ctx, call{
		method: http.MethodPost, path: hostPath(infraEnvID, hostID) + "/instructions", body: reply, ok: http.StatusNoContent,
	}, options)
}

// UpdateHostProgress reports the stage of a host and, for some stages, its progress ("42%").
func (c *Client) UpdateHostProgress(
	ctx context.Context, infraEnvID, hostID uuid.UUID, stage wire.HostStage, info string, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPut, path: hostPath(infraEnvID, hostID) + "/progress",
		body: wire.HostProgress{CurrentStage: &stage, ProgressInfo: &info}, ok: http.StatusOK,
	}, options)
}

// HostLogsProgress reports the state of the collection of a host's logs.
func (c *Client) HostLogsProgress(
	ctx context.Context, infraEnvID, hostID uuid.UUID, state wire.LogsState, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPut, path: hostPath(infraEnvID, hostID) + "/logs-progress",
		body: wire.LogsProgressParams{LogsState: state}, ok: http.StatusNoContent,
	}, options)
}
