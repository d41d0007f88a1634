package admission

import (
	"cmp"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// Observe gives every request an id, logs failures of the service, and turns a panic into an answer.
func (g *Gate) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = httpapi.Begin(w, r)
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := g.o.Now()
		defer func() { g.conclude(out, r, start, recover()) }()
		next.ServeHTTP(out, r)
	})
}

// conclude ends a request: with an answer when its handler panicked before it gave one,
// and in the log.
func (g *Gate) conclude(out middleware.WrapResponseWriter, r *http.Request, start time.Time, panicked any) {
	known := httpapi.About(r)
	defer func() {
		g.log(r, known, out.Status(), start)
		if g.o.Observe != nil && known.Operation != "" {
			held := PreferredWait(r.Header.Values(wire.HeaderPrefer)) > 0
			g.o.Observe(known.Operation, strconv.Itoa(cmp.Or(out.Status(), http.StatusOK)), g.o.Now().Sub(start), held)
		}
	}()
	if panicked == nil {
		return
	}
	if panicked == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		panic(panicked)
	}
	g.o.Log.ErrorContext(r.Context(), "request handler panicked", "request_id", known.ID,
		"method", r.Method, "path", r.URL.Path, "panic", panicked, "stack", string(debug.Stack()))
	if out.Status() == 0 {
		httpapi.Fail(out, r, httpapi.ErrPanicked)
	}
}

func (g *Gate) log(r *http.Request, known *httpapi.Request, status int, start time.Time) {
	level := slog.LevelDebug
	if known.Err != nil && httpapi.ServerFault(httpapi.Status(known.Err)) && r.Context().Err() == nil {
		level = slog.LevelError
	}
	if !g.o.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", known.ID), slog.String("method", r.Method), slog.String("path", httpapi.LoggedPath(r)),
		slog.Int("status", status), slog.Duration("took", g.o.Now().Sub(start)),
	}
	if known.Err != nil {
		attrs = append(attrs, slog.String("error", known.Err.Error()))
	}
	g.o.Log.LogAttrs(r.Context(), level, "request answered", attrs...)
}
