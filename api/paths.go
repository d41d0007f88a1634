package api

import (
	"net/http"
	"net/url"
	"strings"
)

// cleanPaths lets clients write doubled and trailing slashes, without a redirect that
// would turn their POST into a GET, or escapes where none are needed, and drops query
// parameters without a value (docs/reference/wire.md, "Paths and slashes").
func cleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query := clean(r.URL.Path), withValues(r.URL)
		if path != r.URL.Path || query != r.URL.RawQuery || r.URL.RawPath != "" {
			address := *r.URL
			// Without the escaped form everybody reads the same ids: the door, which holds
			// callers to their objects, and the handlers.
			address.Path, address.RawPath, address.RawQuery = path, "", query
			again := *r
			again.URL = &address
			r = &again
		}
		next.ServeHTTP(w, r)
	})
}

func clean(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// withValues is the query of an address without parameters that have no value.
func withValues(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	query, dropped := u.Query(), false
	for name, values := range query {
		if len(values) == 1 && values[0] == "" {
			query.Del(name)
			dropped = true
		}
	}
	if !dropped {
		return u.RawQuery
	}
	return query.Encode()
}
