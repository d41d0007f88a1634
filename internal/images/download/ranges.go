package download

import (
	"net/http"
	"strconv"
	"strings"
)

// byteRange is a range of a file to send.
type byteRange struct {
	offset, length int64
	partial        bool
}

func whole(size int64) byteRange { return byteRange{length: size} }

func (p byteRange) status() int {
	if p.partial {
		return http.StatusPartialContent
	}
	return http.StatusOK
}

// requestedRange returns the range that a GET requests. Anything but one range of bytes is answered with the whole
// file, as RFC 9110 (14.2) allows: no client that loads images requests several ranges, and each of many small
// ranges of a gigabyte would cost as much as a request.
func (c *Content) requestedRange(h http.Header) (byteRange, error) {
	size := c.Layout.Size()
	if h.Get("Range") == "" || !c.unchanged(h.Get("If-Range")) {
		return whole(size), nil
	}
	set, found := strings.CutPrefix(strings.Join(h.Values("Range"), ","), "bytes=")
	if !found {
		return whole(size), nil
	}
	asked := whole(size)
	specs, satisfiable := 0, 0
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
			asked = p
			satisfiable++
		}
	}
	switch {
	case specs > 0 && satisfiable == 0:
		return byteRange{}, &RangeError{Size: size}
	case satisfiable == 1:
		return asked, nil
	}
	return whole(size), nil
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
