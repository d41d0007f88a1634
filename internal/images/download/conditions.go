package download

import (
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// conditions evaluates the preconditions of a request in the order of RFC 9110, 13.2.2, and returns 412, 304,
// or 0 to continue.
func (c *Content) conditions(h http.Header) int {
	switch {
	case h.Get("If-Match") != "":
		if !c.matches(h.Values("If-Match"), false) {
			return http.StatusPreconditionFailed
		}
	case h.Get("If-Unmodified-Since") != "":
		if since, ok := c.since(h.Get("If-Unmodified-Since")); ok && c.modified().After(since) {
			return http.StatusPreconditionFailed
		}
	}
	switch {
	case h.Get("If-None-Match") != "":
		if c.matches(h.Values("If-None-Match"), true) {
			return http.StatusNotModified
		}
	case h.Get("If-Modified-Since") != "":
		if since, ok := c.since(h.Get("If-Modified-Since")); ok && !c.modified().After(since) {
			return http.StatusNotModified
		}
	}
	return 0
}

// modified returns the time of change with the resolution of the header.
func (c *Content) modified() time.Time { return c.Modified.Truncate(time.Second) }

// since parses a date to compare with; a file of unknown age cannot be compared.
func (c *Content) since(text string) (time.Time, bool) {
	t, err := http.ParseTime(text)
	return t, err == nil && !c.Modified.IsZero()
}

// matches searches lists of tags for the file's tag (RFC 9110, 13.1.1 and 13.1.2). A weak tag counts only where
// weak is set.
func (c *Content) matches(lists []string, weak bool) bool {
	for _, list := range lists {
		for rest := list; ; {
			rest = strings.TrimLeft(textproto.TrimString(rest), ", \t")
			if strings.HasPrefix(rest, "*") {
				return true
			}
			tag, isWeak, after, ok := cutTag(rest)
			if !ok {
				break
			}
			if tag == c.ETag && (weak || !isWeak) {
				return true
			}
			rest = after
		}
	}
	return false
}

// cutTag takes an entity tag off the beginning of a list.
func cutTag(list string) (tag string, weak bool, rest string, ok bool) {
	rest, weak = strings.CutPrefix(list, "W/")
	if !strings.HasPrefix(rest, `"`) {
		return "", false, "", false
	}
	tag, rest, ok = strings.Cut(rest[1:], `"`)
	return tag, weak, rest, ok
}

// unchanged evaluates If-Range: whether the client may append a part to what it has (RFC 9110, 13.1.5). Only a
// strong tag, or exactly the date of Last-Modified, allows that.
func (c *Content) unchanged(condition string) bool {
	if condition == "" {
		return true
	}
	if tag, weak, rest, ok := cutTag(condition); ok {
		return !weak && rest == "" && tag == c.ETag
	}
	since, ok := c.since(condition)
	return ok && since.Equal(c.modified())
}
