package download

import (
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/images/remaster/layout"
)

// maxRanges is how many ranges one reply has at most: each costs a reply of its own to read.
const maxRanges = 16

// byteRange is the part of a file in a reply: all of it, a range, or several.
type byteRange struct {
	offset, length int64
	partial        bool
	// several is the whole body with several ranges, and boundary what stands between them; nil for one.
	several  *layout.Layout
	boundary string
}

func whole(size int64) byteRange { return byteRange{length: size} }

func (p byteRange) status() int {
	if p.partial {
		return http.StatusPartialContent
	}
	return http.StatusOK
}

// pieces yields the bytes of the reply.
func (p byteRange) pieces(of *layout.Layout) iter.Seq[layout.Piece] {
	if p.several != nil {
		return p.several.Range(0, p.several.Size())
	}
	return of.Range(p.offset, p.length)
}

// requestedRange returns what a GET requests. More than maxRanges, or ranges that are longer together than the file, are answered
// with the whole file, as RFC 9110 (14.2) allows.
func (c *Content) requestedRange(h http.Header) (byteRange, error) {
	size := c.Layout.Size()
	if h.Get("Range") == "" || !c.unchanged(h.Get("If-Range")) {
		return whole(size), nil
	}
	set, found := strings.CutPrefix(strings.Join(h.Values("Range"), ","), "bytes=")
	if !found {
		return whole(size), nil
	}
	var asked []byteRange
	specs, total := 0, int64(0)
	for spec := range strings.SplitSeq(set, ",") {
		spec = strings.Trim(spec, " \t")
		if spec == "" {
			continue // RFC 9110, 5.6.1: empty elements count for nothing
		}
		p, fits, valid := readRange(spec, size)
		if !valid {
			return whole(size), nil
		}
		specs++
		if fits {
			asked = append(asked, p)
			total += p.length
		}
	}
	switch {
	case specs > 0 && len(asked) == 0:
		return byteRange{}, &RangeError{Size: size}
	case len(asked) == 1:
		return asked[0], nil
	case len(asked) == 0 || len(asked) > maxRanges || total > size:
		return whole(size), nil
	}
	return c.several(asked), nil
}

// several puts ranges into one body of type multipart/byteranges (RFC 9110, 14.6).
func (c *Content) several(ranges []byteRange) byteRange {
	boundary := multipart.NewWriter(io.Discard).Boundary()
	var pieces []layout.Piece
	for i, p := range ranges {
		head := fmt.Sprintf("--%s\r\nContent-Type: %s\r\nContent-Range: %s\r\n\r\n", boundary, c.contentType(), p.contentRange(c.Layout.Size()))
		if i > 0 {
			head = "\r\n" + head
		}
		pieces = append(pieces, layout.Bytes([]byte(head)))
		pieces = slices.AppendSeq(pieces, c.Layout.Range(p.offset, p.length))
	}
	body := layout.Of(append(pieces, layout.Bytes([]byte("\r\n--"+boundary+"--\r\n")))...)
	return byteRange{length: body.Size(), partial: true, several: body, boundary: boundary}
}

func (p byteRange) contentRange(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", p.offset, p.offset+p.length-1, size)
}

// readRange parses "first-last", "first-" or "-length"; fits reports whether the range contains a byte of the
// file.
func readRange(spec string, size int64) (p byteRange, fits, valid bool) {
	first, last, found := strings.Cut(spec, "-")
	if !found || first == "" && last == "" || !digits(first) || !digits(last) {
		return byteRange{}, false, false
	}
	if first == "" {
		length := min(number(last), size)
		return byteRange{offset: size - length, length: length, partial: true}, length > 0, true
	}
	offset, end := number(first), size-1
	if last != "" {
		if number(last) < offset {
			return byteRange{}, false, false
		}
		end = min(end, number(last))
	}
	return byteRange{offset: offset, length: end - offset + 1, partial: true}, offset < size, true
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// number parses digits; a number beyond int64 is beyond the end of any file.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // the greatest int64 when out of range
	return n
}
