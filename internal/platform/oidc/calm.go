package oidc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// keptFor is how long an answer of the issuer is used: tokens with keys that it does not have let it be asked once a minute.
	keptFor = time.Minute
	// firstPause is the time after a failure in which the issuer is not asked again; it doubles with each failure up to keptFor.
	firstPause = time.Second
	// maxAnswer bounds configuration and keys, in bytes.
	maxAnswer = 1 << 20
)

// calm is a transport for an issuer's configuration and keys: callers share requests and answers, so that a flood of tokens makes few of
// them, and no caller waits for more than one. Other requests pass.
type calm struct {
	next http.RoundTripper
	now  func() time.Time

	flights singleflight.Group
	mu      sync.Mutex
	answers map[string]*answer // by URL; the issuer's configuration names them
}

// answer is an answer of the issuer, or the error of a request.
type answer struct {
	until    time.Time
	failures int
	status   int
	header   http.Header
	body     []byte
	err      error
}

// RoundTrip implements http.RoundTripper.
func (c *calm) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
		return c.next.RoundTrip(r)
	}
	key := r.URL.String()
	if kept := c.kept(key); kept != nil {
		return kept.response(r)
	}
	ctx := context.WithoutCancel(r.Context()) // the answer is for all callers
	done := c.flights.DoChan(key, func() (any, error) {
		if kept := c.kept(key); kept != nil { // of a flight that ended meanwhile
			return kept, nil
		}
		return c.fetch(ctx, key, r.Header), nil
	})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case result := <-done:
		return result.Val.(*answer).response(r) //nolint:forcetypeassert // see above
	}
}

// kept returns the answer that is used now, nil: none.
func (c *calm) kept(key string) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[key]; a != nil && c.now().Before(a.until) {
		return a
	}
	return nil
}

// fetch requests an answer, and keeps it.
func (c *calm) fetch(ctx context.Context, url string, header http.Header) *answer {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	a := &answer{}
	a.status, a.header, a.body, a.err = c.get(ctx, url, header)
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := keptFor
	if a.err != nil || a.status != http.StatusOK {
		if before := c.answers[url]; before != nil {
			a.failures = before.failures
		}
		pause = min(firstPause<<min(a.failures, 10), keptFor)
		a.failures++
	}
	a.until = c.now().Add(pause)
	if c.answers == nil {
		c.answers = map[string]*answer{}
	}
	c.answers[url] = a
	return a
}

func (c *calm) get(ctx context.Context, url string, header http.Header) (int, http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header = header.Clone()
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("require an answer of at most %d bytes from %s", maxAnswer, url)
	}
	return response.StatusCode, response.Header, body, err
}

func (a *answer) response(r *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r,
	}, nil
}
