package liveisos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"slipway/internal/cluster/openshift"
)

// refusal is the error for complete content that is not what was requested. Its identification is kept, so that
// the same content is not downloaded or read again.
type refusal struct {
	err  error
	part partRecord  // by the server
	info fs.FileInfo // by the file system, when it is used in place
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// publicSource returns an address without parts that may be secret.
func publicSource(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// client returns the client of the options, which does not send secrets of one host to others.
func (o Options) client() *http.Client {
	client := *o.Client
	client.CheckRedirect = func(next *http.Request, earlier []*http.Request) error {
		if len(earlier) >= 10 {
			return errors.New("more than 10 redirections")
		}
		first := earlier[0].URL
		if next.URL.Host != first.Host || next.URL.Scheme == "http" && first.Scheme == "https" {
			for name := range o.Headers {
				next.Header.Del(name)
			}
			next.Header.Del("Referer") // it has the query
		}
		return nil
	}
	return &client
}

// request builds the request for an image, starting at a byte.
func (o Options) request(ctx context.Context, image openshift.OSImage) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, image.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if len(o.Query) > 0 {
		query := request.URL.Query()
		for name, value := range o.Query {
			query.Set(name, value.Reveal())
		}
		request.URL.RawQuery = query.Encode()
	}
	for name, value := range o.Headers {
		request.Header.Set(name, value.Reveal())
	}
	request.Header.Set("Accept-Encoding", "identity") // sizes and ranges count in the file
	return request, nil
}

// Ask returns an error unless the source of an image would answer a download. It asks for the first byte with GET: signed addresses
// are often valid for no other method.
func (o Options) Ask(ctx context.Context, image openshift.OSImage) error {
	request, err := o.request(ctx, image)
	if err != nil {
		return failedGet(image, err)
	}
	request.Header.Set("Range", "bytes=0-0")
	response, err := o.client().Do(request)
	if err != nil {
		return failedGet(image, err)
	}
	_ = response.Body.Close()
	if code := response.StatusCode; code != http.StatusOK && code != http.StatusPartialContent {
		return failedGet(image, fmt.Errorf("require 200 OK, found %s", response.Status))
	}
	return nil
}

// failedGet names the source of an image without parts that may be secret.
func failedGet(image openshift.OSImage, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the address
	}
	return fmt.Errorf("get %s: %w", publicSource(image.URL), err)
}

// resume requests the rest of a part, unless the source has changed.
func (p *partRecord) resume(request *http.Request, from int64) {
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	switch {
	case p.strongETag():
		request.Header.Set("If-Range", p.ETag)
	case p.LastModified != "":
		request.Header.Set("If-Range", p.LastModified)
	}
}

// resumable reports whether the rest of a part can be distinguished from another file's: by the server, or by
// the final digest.
func (p *partRecord) resumable(sha256 string) bool {
	return p.Size > 0 && (p.strongETag() || p.LastModified != "" || sha256 != "")
}

func (p *partRecord) strongETag() bool { return p.ETag != "" && !strings.HasPrefix(p.ETag, "W/") }

// unlessRefused adds conditions so that content refused before is not sent again.
func (r *refusal) unlessRefused(request *http.Request) {
	if r.part.ETag != "" {
		request.Header.Set("If-None-Match", r.part.ETag)
	} else if r.part.LastModified != "" {
		request.Header.Set("If-Modified-Since", r.part.LastModified)
	}
}

// describe parses the reply to a request for the whole file.
func describe(image openshift.OSImage, response *http.Response) partRecord {
	return partRecord{
		Source: publicSource(image.URL), Size: max(response.ContentLength, 0),
		ETag: response.Header.Get("ETag"), LastModified: response.Header.Get("Last-Modified"),
	}
}

// continues reports whether a reply is the rest of a part from a byte on.
func (p *partRecord) continues(response *http.Response, from int64) bool {
	want := fmt.Sprintf("bytes %d-%d/%d", from, p.Size-1, p.Size)
	etag := response.Header.Get("ETag")
	return response.Header.Get("Content-Range") == want && (etag == "" || p.ETag == "" || etag == p.ETag)
}
