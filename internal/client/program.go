package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// programTimeout is for some ten megabytes over a slow link.
const programTimeout = 15 * time.Minute

// Program downloads a program the service offers; path is below its root.
func (c *Client) Program(ctx context.Context, path string, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.options.BaseURL+path, nil)
	if err != nil {
		return fmt.Errorf("make the request for %s: %w", path, err)
	}
	request.Header.Set("User-Agent", c.options.UserAgent)
	if token := c.options.Token.Reveal(); token != "" {
		request.Header.Set("X-Secret-Key", token)
	}
	response, err := c.options.HTTPClient.Do(request)
	if err != nil {
		return fmt.Errorf("call the service: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return readError(call{method: http.MethodGet, path: path}, response)
	}
	if _, err := io.Copy(to, response.Body); err != nil {
		return fmt.Errorf("download %s: %w", path, err)
	}
	return nil
}

// AgentVersion returns the client's name for its agent.
func (c *Client) AgentVersion() string { return c.options.AgentVersion }
