package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"slipway/internal/wire"
)

// headerRequestID carries the id of a request, from the client or made here, into the
// log and the answer.
const headerRequestID = "X-Request-Id"

var requestIDText = regexp.MustCompile(`^[0-9A-Za-z._:-]{1,64}$`)

// request is what is known of a request while it is answered.
type request struct {
	id  string
	err error // why it failed; set by fail
	// operation is what the document calls it; empty for an address that is none.
	operation string
}

type requestKey struct{}

// about returns what is known of a request.
func about(r *http.Request) *request {
	known, _ := r.Context().Value(requestKey{}).(*request)
	if known == nil {
		return &request{}
	}
	return known
}

// requestUUID is the id of a request when it is a UUID, for the events it causes.
func requestUUID(r *http.Request) *uuid.UUID {
	id, err := uuid.Parse(about(r).id)
	if err != nil {
		return nil
	}
	return &id
}

// observed gives every request an id, logs the ones that broke, and turns a panic into
// an answer.
func (s *server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := &request{id: r.Header.Get(headerRequestID)}
		if !requestIDText.MatchString(known.id) {
			known.id = uuid.NewString()
		}
		w.Header().Set(headerRequestID, known.id)
		ctx := context.WithValue(r.Context(), requestKey{}, known)
		// A router above has its own idea of the path, from before it was cleaned.
		r = r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, nil))
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := s.Now()
		defer func() { s.conclude(out, r, start, recover()) }()
		next.ServeHTTP(out, r)
	})
}

// conclude ends a request: with an answer when its handler panicked before it gave one,
// and in the log.
func (s *server) conclude(out middleware.WrapResponseWriter, r *http.Request, start time.Time, panicked any) {
	known := about(r)
	defer func() {
		s.log(r, known, out.Status(), start)
		if s.Observe != nil && known.operation != "" {
			held := preferredWait(r.Header.Values(wire.HeaderPrefer)) > 0
			s.Observe(known.operation, strconv.Itoa(cmp.Or(out.Status(), http.StatusOK)), s.Now().Sub(start), held)
		}
	}()
	if panicked == nil {
		return
	}
	if panicked == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		panic(panicked)
	}
	s.Log.ErrorContext(r.Context(), "request handler panicked", "request_id", known.id,
		"method", r.Method, "path", r.URL.Path, "panic", panicked, "stack", string(debug.Stack()))
	if out.Status() == 0 {
		fail(out, r, errPanicked)
	}
}

func (s *server) log(r *http.Request, known *request, status int, start time.Time) {
	level := slog.LevelDebug
	if known.err != nil && broken(statusOf(known.err)) && r.Context().Err() == nil {
		level = slog.LevelError
	}
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", known.id), slog.String("method", r.Method), slog.String("path", hiddenCredentials(r)),
		slog.Int("status", status), slog.Duration("took", s.Now().Sub(start)),
	}
	if known.err != nil {
		attrs = append(attrs, slog.String("error", known.err.Error()))
	}
	s.Log.LogAttrs(r.Context(), level, "request answered", attrs...)
}
