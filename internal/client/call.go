package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"slipway/internal/wire"
)

// call is one running operation.
type call struct {
	method string
	path   string // below BasePath, or ownPath when own is set
	own    bool
	query  url.Values
	body   any // sent as JSON; nil sends none
	// upload, when set, makes the body anew for each attempt.
	upload func() (body io.Reader, contentType string)
	ok     int // the only success code
	into   any // destination of the JSON reply: nil, *[]byte for the bytes themselves, or an io.Writer
	header func(http.Header)

	timeout    time.Duration
	retry      bool
	retryLimit time.Duration
	wait       time.Duration
	fine       bool
	boot       string
	again      bool
	kubeKey    string
}

// do runs the call, repeatedly when WithRetry is set.
func (c *Client) do(ctx context.Context, k call, options []Option) error {
	if k.timeout == 0 {
		k.timeout = defaultTimeout
	}
	for _, o := range options {
		o(&k)
	}
	if !k.retry {
		return c.attempt(ctx, k)
	}
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = c.attempt(ctx, k)
		if last == nil {
			return struct{}{}, nil
		}
		if !Passing(last) {
			return struct{}{}, backoff.Permanent(last)
		}
		if pause := RetryAfter(last); pause > 0 {
			return struct{}{}, &backoff.RetryAfterError{Duration: pause}
		}
		return struct{}{}, last
	}, backoff.WithBackOff(pauses()), backoff.WithMaxElapsedTime(k.retryLimit))
	if err == nil {
		return nil
	}
	return last // the last reply is more informative than the end of the context
}

// pauses returns the pauses between the attempts of WithRetry.
func pauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.7, MaxInterval: 15 * time.Second,
	}
}

func (c *Client) attempt(ctx context.Context, k call) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout+k.wait)
	defer cancel()
	request, err := c.request(ctx, k)
	if err != nil {
		return err
	}
	response, err := c.options.HTTPClient.Do(request)
	if err != nil {
		return fmt.Errorf("call the service: %w", err)
	}
	defer func() {
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // lets the connection be used again
		_ = response.Body.Close()
	}()
	if response.StatusCode != k.ok {
		return readError(k, response)
	}
	if k.header != nil {
		k.header(response.Header)
	}
	return readAnswer(k, response.Body)
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	body, contentType, err := k.content()
	if err != nil {
		return nil, err
	}
	address := c.root + k.path
	if k.own {
		address = c.own + k.path
	}
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make the request %s %s: %w", k.method, k.path, err)
	}
	set := func(name, value string) {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	set("Accept", "application/json, application/octet-stream, */*;q=0.1")
	set("Content-Type", contentType)
	set("User-Agent", c.options.UserAgent)
	set("X-Secret-Key", c.Token().Reveal())
	token := c.options.UserToken
	if c.options.RenewedToken != nil {
		token = c.options.RenewedToken()
	}
	set("Authorization", token.Reveal())
	set("discovery_agent_version", c.options.AgentVersion)
	if k.wait > 0 {
		set(wire.HeaderPrefer, "wait="+strconv.Itoa(int(k.wait.Seconds())))
	}
	set(wire.HeaderBoot, k.boot)
	set(wire.HeaderKubeKey, k.kubeKey)
	if k.fine {
		set(wire.HeaderSteps, wire.StepsFine)
	}
	if k.again {
		set(wire.HeaderRegistration, wire.RegistrationAgain)
	}
	return request, nil
}

func (k call) content() (body io.Reader, contentType string, err error) {
	switch {
	case k.upload != nil:
		body, contentType = k.upload()
		return body, contentType, nil
	case k.body == nil:
		return http.NoBody, "", nil
	}
	text, err := json.Marshal(k.body)
	if err != nil {
		return nil, "", fmt.Errorf("write the body of %s %s: %w", k.method, k.path, err)
	}
	return bytes.NewReader(text), "application/json", nil
}

func readAnswer(k call, body io.Reader) error {
	switch into := k.into.(type) {
	case nil:
		return nil
	case *[]byte:
		content, err := io.ReadAll(body)
		if err != nil {
			return fmt.Errorf("read the answer of %s %s: %w", k.method, k.path, err)
		}
		*into = content
		return nil
	case io.Writer:
		if _, err := io.Copy(into, body); err != nil {
			return fmt.Errorf("read the answer of %s %s: %w", k.method, k.path, err)
		}
		return nil
	default:
		if err := json.NewDecoder(body).Decode(into); err != nil {
			return fmt.Errorf("read the answer of %s %s: %w", k.method, k.path, err)
		}
		return nil
	}
}

func readError(k call, response *http.Response) error {
	answer := &Error{Op: k.method + " " + k.path, Status: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		answer.RetryAfter = time.Duration(seconds) * time.Second
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return answer
	}
	var body struct{ Reason, Message string } // Error and InfraError (docs/reference/wire.md, "Bodies of errors")
	if json.Unmarshal(content, &body) != nil {
		return answer
	}
	answer.Reason = body.Reason
	if answer.Reason == "" {
		answer.Reason = body.Message
	}
	if len(answer.Reason) > 1<<10 {
		answer.Reason = answer.Reason[:1<<10]
	}
	return answer
}

// read asks for something that is answered with 200 and JSON.
func read[T any](ctx context.Context, c *Client, path string, query url.Values, options []Option) (T, error) {
	var answer T
	err := c.do(ctx, call{method: http.MethodGet, path: path, query: query, ok: http.StatusOK, into: &answer}, options)
	return answer, err
}
