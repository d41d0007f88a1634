package api

import (
	"net/http"
	"net/url"
	"strings"
)

// cleanPaths lets clients write doubled and trailing slashes, without a redirect that
// would turn their POST into a GET, and drops query parameters without a value
// (contract/clients.md, W1).
func cleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query := clean(r.URL.Path), withValues(r.URL)
		if path != r.URL.Path || query != r.URL.RawQuery {
			address := *r.URL
			address.Path, address.RawQuery = path, query
			if address.RawPath != "" {
				address.RawPath = clean(address.RawPath)
			}
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
