// Package client implements a client of the v2 API: one method an operation, typed by package wire, with the
// success codes of docs/reference/wire.md, "Success codes". The agent, the installer, the controller and the
// command line share it.
package client

import (
	"cmp"
	"net/http"
	"strings"
	"sync/atomic"

	"slipway/internal/model"
)

// BasePath is the path of the v2 API below the root of the service.
const BasePath = "/api/assisted-install"

// ownPath is the path of Slipway's additional API.
const ownPath = "/api/slipway"

// Options configure a Client.
type Options struct {
	// BaseURL is the root of the service: "https://service.example.com:8090".
	BaseURL string
	// Token authenticates a host or a controller; sent as X-Secret-Key.
	Token model.Secret
	// UserToken is the whole Authorization header of a user: "Bearer ..." or a bare token.
	UserToken model.Secret
	// RenewedToken, when set, returns the UserToken for each request: a token in a file is replaced before it expires.
	RenewedToken func() model.Secret
	// IgnoreHostToken keeps to Token, as clients of other implementations do.
	IgnoreHostToken bool
	// HTTPClient carries the requests; New makes one when nil. The context of a call and WithTimeout limit its time.
	HTTPClient *http.Client
	// UserAgent is sent as User-Agent; "slipway" when empty.
	UserAgent string
	// AgentVersion is sent as discovery_agent_version by agents.
	AgentVersion string
}

// Client calls one service. It is safe for concurrent use.
type Client struct {
	options Options
	token   atomic.Pointer[model.Secret] // nil: the options' token
	root    string                       // with BasePath, without a final slash
	own     string                       // with ownPath
}

// New makes a client; it does not talk to the service.
func New(o Options) *Client {
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()} //nolint:forcetypeassert // see net/http
	}
	if o.UserAgent == "" {
		o.UserAgent = "slipway"
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return &Client{options: o, root: o.BaseURL + BasePath, own: o.BaseURL + ownPath}
}

// BaseURL returns the root of the service, without a final slash.
func (c *Client) BaseURL() string { return c.options.BaseURL }

// Token returns the token that authenticates the client as a host.
func (c *Client) Token() model.Secret {
	return cmp.Or(c.HostToken(), c.options.Token)
}

// HostToken returns the token that SetToken set; empty: none.
func (c *Client) HostToken() model.Secret {
	if own := c.token.Load(); own != nil {
		return *own
	}
	return ""
}

// SetToken replaces the token by the token that the service gave the host; an empty one restores the options' token.
func (c *Client) SetToken(token model.Secret) {
	if token == "" {
		c.token.Store(nil)
		return
	}
	c.token.Store(&token)
}
