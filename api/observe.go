package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"
)

// headerRequestID carries the id of a request, from the client or made here, into the
// log and the answer.
const headerRequestID = "X-Request-Id"

var requestIDText = regexp.MustCompile(`^[0-9A-Za-z._:-]{1,64}$`)

// request is what is known of a request while it is answered.
type request struct {
	id  string
	err error // why it failed; set by fail
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
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, known))
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := s.Now()
		defer func() {
			panicked := recover()
			if panicked == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				s.log(r, known, out.Status(), start)
				panic(panicked)
			}
			if panicked != nil {
				s.Log.ErrorContext(r.Context(), "request handler panicked", "request_id", known.id,
					"method", r.Method, "path", r.URL.Path, "panic", panicked, "stack", string(debug.Stack()))
				if out.Status() == 0 {
					fail(out, r, errPanicked)
				}
			}
			s.log(r, known, out.Status(), start)
		}()
		next.ServeHTTP(out, r)
	})
}

func (s *server) log(r *http.Request, known *request, status int, start time.Time) {
	level := slog.LevelDebug
	if broken(status) && known.err != nil && r.Context().Err() == nil {
		level = slog.LevelError
	}
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", known.id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", status), slog.Duration("took", s.Now().Sub(start)),
	}
	if known.err != nil {
		attrs = append(attrs, slog.String("error", known.err.Error()))
	}
	s.Log.LogAttrs(r.Context(), level, "request answered", attrs...)
}
