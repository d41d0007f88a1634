package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// CreateToken makes a token of a user; the reply has it in Token.
func (c *Client) CreateToken(ctx context.Context, params wire.UserTokenCreateParams, options ...Option) (*wire.UserToken, error) {
	var token wire.UserToken
	err := c.do(ctx, call{
		method: http.MethodPost, own: true, path: "/v1/tokens", body: params, ok: http.StatusCreated, into: &token,
	}, options)
	if err != nil {
		return nil, err
	}
	return &token, nil
}

// Tokens lists the valid tokens of users that the caller may see, newest first.
func (c *Client) Tokens(ctx context.Context, options ...Option) ([]wire.UserToken, error) {
	var tokens []wire.UserToken
	err := c.do(ctx, call{method: http.MethodGet, own: true, path: "/v1/tokens", ok: http.StatusOK, into: &tokens}, options)
	return tokens, err
}

// RevokeToken ends a token of a user.
func (c *Client) RevokeToken(ctx context.Context, id uuid.UUID, options ...Option) error {
	return c.do(ctx, call{method: http.MethodDelete, own: true, path: "/v1/tokens/" + id.String(), ok: http.StatusNoContent}, options)
}

// IssuerUsers lists the users of issuers of OpenID Connect who came.
func (c *Client) IssuerUsers(ctx context.Context, options ...Option) (users []wire.IssuerUser, err error) {
	err = c.do(ctx, call{method: http.MethodGet, own: true, path: "/v1/issuer-users", ok: http.StatusOK, into: &users}, options)
	return users, err
}

// ForgetIssuerUser gives a name to whoever of the issuer comes with it next, and ends the tokens of that name.
func (c *Client) ForgetIssuerUser(ctx context.Context, name string, options ...Option) error {
	query := url.Values{"name": {name}}
	return c.do(ctx, call{method: http.MethodDelete, own: true, path: "/v1/issuer-users", query: query, ok: http.StatusNoContent}, options)
}

// SignInAt says where users of the service sign in; no credential is needed.
func (c *Client) SignInAt(ctx context.Context, options ...Option) (wire.SignInAt, error) {
	var at wire.SignInAt
	err := c.do(ctx, call{method: http.MethodGet, own: true, path: "/sign-in", ok: http.StatusOK, into: &at}, options)
	return at, err
}

// SignIn exchanges the client's token, an ID token of the issuer, for one of the service.
func (c *Client) SignIn(ctx context.Context, options ...Option) (*wire.UserToken, error) {
	var token wire.UserToken
	err := c.do(ctx, call{method: http.MethodPost, own: true, path: "/v1/sign-in", ok: http.StatusCreated, into: &token}, options)
	if err != nil {
		return nil, err
	}
	return &token, nil
}
