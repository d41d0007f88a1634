package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"slipway/internal/model"
)

// CleanPaths accepts doubled and trailing slashes and needless escapes in paths, without a redirect, which would turn
// a POST into a GET. It removes query parameters without a value (docs/reference/wire.md, "Paths and slashes").
func CleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query := cleanPath(r.URL.Path), withValues(r.URL)
		if path != r.URL.Path || query != r.URL.RawQuery || r.URL.RawPath != "" {
			address := *r.URL
			// Without the escaped form, authorization and the handlers read the same ids.
			address.Path, address.RawPath, address.RawQuery = path, "", query
			again := *r
			again.URL = &address
			r = &again
		}
		next.ServeHTTP(w, r)
	})
}

func cleanPath(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// withValues returns the query of an address without parameters that have no value.
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

// LoggedPath returns the cleaned path of a request for the log, with credentials in it redacted.
func LoggedPath(r *http.Request) string {
	parts := strings.SplitN(cleanPath(r.URL.Path), "/", 4)
	if len(parts) > 2 && (parts[1] == "byapikey" || parts[1] == "bytoken") {
		parts[2] = model.Secret(parts[2]).String()
	}
	return strings.Join(parts, "/")
}
