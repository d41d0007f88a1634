// Package guard stands before every handler of a listener: it turns away requests that browsers send for other sites, bodies that
// do not arrive, and callers that ask too much.
package guard

import (
	"log/slog"
	"net/http"
	"time"

	"slipway/internal/platform/httpapi"
)

// Options configure a guard.
type Options struct {
	// Names are the host names that the service is reached by; addresses are taken without being listed. A page of another name
	// that resolves to the service (DNS rebinding) is not among them.
	Names []string
	// Origins are the sites whose pages may change something, beside the service's own: "https://slipway.example.com".
	Origins []string
	Log     *slog.Logger
	Now     func() time.Time
}

// Guard returns a handler that lets requests through to next.
func Guard(o Options, next http.Handler) http.Handler {
	return nosniff(ownNames(o, ownOrigin(o, steadyBody(o, next))))
}

// nosniff keeps browsers from taking an answer for another type than it says.
func nosniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func refuse(o Options, w http.ResponseWriter, r *http.Request, err error) {
	o.Log.DebugContext(r.Context(), "request refused", "path", r.URL.Path, "remote", r.RemoteAddr, "error", err)
	w.Header().Set("Connection", "close")
	httpapi.Fail(w, r, err)
}
