package client

import (
	"context"
	"net/http"
	"net/url"
)

// read asks for something that is answered with 200 and JSON.
func read[T any](ctx context.Context, c *Client, path string, query url.Values, options []Option) (T, error) {
	var answer T
	err := c.do(ctx, call{method: http.MethodGet, path: path, query: query, ok: http.StatusOK, into: &answer}, options)
	return answer, err
}
