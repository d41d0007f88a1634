package guard

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"slipway/internal/platform/httpapi"
)

// ownNames refuses requests for names that are not the service's. Addresses pass: a page needs a name to reach another machine.
func ownNames(o Options, next http.Handler) http.Handler {
	known := map[string]bool{"localhost": true}
	for _, name := range o.Names {
		known[strings.ToLower(strings.TrimSuffix(name, "."))] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
		if _, err := netip.ParseAddr(host); err != nil && host != "" && !known[host] {
			refuse(o, w, r, httpapi.Errorf(httpapi.ErrMisdirected,
				"require a name of this service in Host (--base-url, --allowed-hosts), found %q", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownOrigin refuses changes that a page of another site asks for, by what browsers say of each request (Fetch metadata, Origin).
func ownOrigin(o Options, next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			o.Log.Warn("origin not trusted", "origin", origin, "error", err)
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(o, w, r, httpapi.Errorf(httpapi.ErrForbidden, "requests from pages of other sites are refused (%s)",
			strings.TrimSpace(r.Header.Get("Origin")+" "+r.Header.Get("Sec-Fetch-Site"))))
	}))
	return protection.Handler(next)
}
