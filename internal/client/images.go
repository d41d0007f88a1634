package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// ImageRange is the requested part of an image: from a byte to the end.
type ImageRange struct {
	// Address is a result of ImageURL. It contains its credential: no other one is sent there.
	Address string
	// From is the first requested byte.
	From int64
	// ETag belongs to the image whose bytes before From are present already.
	ETag string
}

// Image is an image being downloaded.
type Image struct {
	// ETag identifies the content; empty when a download cannot be resumed.
	ETag string
	// From is where Body begins: as requested, or zero when the image is not the image of the ETag that was
	// sent any more. It is Size when nothing is left to send.
	From int64
	// Size is the size of the whole image in bytes.
	Size int64
	Body io.ReadCloser
}

// Image opens an image. Errors of the service are of type Error; any other means that it
// was not reached. None of them has the token that may be in the address.
func (c *Client) Image(ctx context.Context, r ImageRange) (*Image, error) {
	address, err := url.Parse(r.Address)
	if err != nil || address.Host == "" {
		return nil, errors.New("the address of the image must be a URL with a host")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address, nil)
	if err != nil {
		return nil, fmt.Errorf("make the request for %s: %w", path.Base(address.Path), err)
	}
	request.Header.Set("User-Agent", c.options.UserAgent)
	request.Header.Set("Accept-Encoding", "identity") // or offsets would count in a compressed stream
	if r.From > 0 {
		request.Header.Set("Range", "bytes="+strconv.FormatInt(r.From, 10)+"-")
		request.Header.Set("If-Range", r.ETag)
	}
	response, err := c.options.HTTPClient.Do(request)
	var detailed *url.Error
	if errors.As(err, &detailed) {
		err = detailed.Err // without the address
	}
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path.Base(address.Path), err)
	}
	image, err := openImage(r, response)
	if err != nil || image.Body == nil {
		response.Body.Close()
	}
	if err == nil && image.Body == nil {
		image.Body = http.NoBody
	}
	return image, err
}

// openImage reads the header of an answer; an image without a body has arrived already.
func openImage(r ImageRange, response *http.Response) (*Image, error) {
	image := &Image{ETag: strong(response.Header.Get("ETag")), Size: response.ContentLength, Body: response.Body}
	switch response.StatusCode {
	case http.StatusOK:
		if image.Size < 0 {
			return nil, unexpected(response, "the answer has no length")
		}
		if image.Size == 0 {
			return nil, unexpected(response, "the answer is empty, without an image")
		}
		return image, nil
	case http.StatusPartialContent:
		first, size, ok := contentRange(response.Header.Get("Content-Range"))
		if !ok || first != r.From {
			return nil, unexpected(response, fmt.Sprintf("require an answer with Content-Range: bytes %d-LAST/SIZE, found %q",
				r.From, response.Header.Get("Content-Range")))
		}
		image.From, image.Size = first, size
		return image, nil
	case http.StatusRequestedRangeNotSatisfiable:
		if r.From == 0 {
			break
		}
		size, ok := strings.CutPrefix(response.Header.Get("Content-Range"), "bytes */")
		total, err := strconv.ParseInt(size, 10, 64)
		if !ok || err != nil {
			return nil, unexpected(
				response,
				fmt.Sprintf("require Content-Range: bytes */SIZE, found %q", response.Header.Get("Content-Range")),
			)
		}
		return &Image{ETag: r.ETag, From: total, Size: total}, nil
	}
	return nil, readError(imageCall(response), response)
}

// imageCall names an operation for errors. The path may contain a token; its last part is enough.
func imageCall(response *http.Response) call {
	return call{method: http.MethodGet, path: path.Base(response.Request.URL.Path)}
}

func unexpected(response *http.Response, reason string) error {
	k := imageCall(response)
	return &Error{Op: k.method + " " + k.path, Status: response.StatusCode, Reason: reason}
}

// strong returns an ETag that identifies bytes; a weak one is dropped (RFC 9110, section 8.8.3).
func strong(tag string) string {
	if strings.HasPrefix(tag, "W/") {
		return ""
	}
	return tag
}

// contentRange reads "bytes 100-199/200": a range that goes to the end.
func contentRange(header string) (first, size int64, ok bool) {
	where, total, _ := strings.Cut(strings.TrimPrefix(header, "bytes "), "/")
	start, end, _ := strings.Cut(where, "-")
	first, errFirst := strconv.ParseInt(start, 10, 64)
	last, errLast := strconv.ParseInt(end, 10, 64)
	size, errSize := strconv.ParseInt(total, 10, 64)
	ok = errFirst == nil && errLast == nil && errSize == nil && 0 <= first && first <= last && last == size-1
	return first, size, ok
}
