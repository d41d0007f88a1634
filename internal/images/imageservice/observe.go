package imageservice

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"

	"slipway/internal/images/download"
	"slipway/internal/images/liveisos"
	"slipway/internal/platform/httpapi"
)

// request holds the facts about a request while it is answered.
type request struct {
	*httpapi.Request

	infraEnvID uuid.UUID
	version    string // of OpenShift
	arch       string
	imageType  string // of ISOs
	credential credential

	artifact string // for the meter
	begun    time.Time
	status   int // of the answer, once it begins
}

type requestKey struct{}

func requestOf(r *http.Request) *request {
	return r.Context().Value(requestKey{}).(*request) //nolint:forcetypeassert // observe stores it
}

// handler answers a request whose parts are read.
type handler func(w http.ResponseWriter, r *http.Request, req *request) error

// handle returns a handler that reads the parts of a request, answers it, and maps an error to its status code.
func (s *service) handle(next handler, readers ...func(*http.Request, *request) error) http.HandlerFunc {
	readers = append(readers, readCredential)
	return func(w http.ResponseWriter, r *http.Request) {
		req := requestOf(r)
		for _, read := range readers {
			if err := read(r, req); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		err := next(w, r, req)
		switch {
		case errors.Is(err, download.ErrBroken):
			req.Err = err
			panic(http.ErrAbortHandler)
		case err != nil:
			s.fail(w, r, err)
		}
	}
}

// observe gives every request an id, counts and logs its answer, and turns a panic into an answer. It does not wrap
// the writer, which would prevent sendfile.
func (s *service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := s.Now()
		r = httpapi.Begin(w, r)
		req := &request{Request: httpapi.About(r), begun: begun, artifact: "none"}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
		defer func() { s.conclude(w, r, req, recover()) }()
		next.ServeHTTP(w, r)
	})
}

func (s *service) conclude(w http.ResponseWriter, r *http.Request, req *request, panicked any) {
	if panicked != nil && panicked != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		s.Log.ErrorContext(r.Context(), "image handler panicked", "request_id", req.ID,
			"path", httpapi.LoggedPath(r), "panic", panicked, "stack", string(debug.Stack()))
		if panicked = http.ErrAbortHandler; req.status == 0 {
			s.fail(w, r, httpapi.ErrPanicked)
			panicked = nil
		}
	}
	s.note(r, req)
	if panicked != nil {
		panic(panicked)
	}
}

// expected reports whether a 503 ends without intervention.
func expected(err error) bool {
	var notReady *liveisos.NotReady
	return errors.Is(err, download.ErrBusy) || errors.As(err, &notReady)
}

// note counts an answer and logs it.
func (s *service) note(r *http.Request, req *request) {
	code, level := strconv.Itoa(req.status), slog.LevelDebug
	switch {
	case errors.Is(req.Err, download.ErrBroken) && errors.Is(req.Err, download.ErrShort):
		code, level = "broken", slog.LevelError
	case errors.Is(req.Err, download.ErrBroken) && errors.Is(req.Err, os.ErrDeadlineExceeded):
		code, level = "broken", slog.LevelInfo // the connection of a stalled client was closed
	case errors.Is(req.Err, download.ErrBroken):
		code = "broken" // the client is gone
	case httpapi.ServerFault(req.status) && req.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case req.status == http.StatusServiceUnavailable && !expected(req.Err):
		level = slog.LevelWarn // the API is unreachable, or its address is wrong
	}
	s.Meter.ImageAnswered(req.artifact, code)
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", req.ID), slog.String("method", r.Method), slog.String("path", httpapi.LoggedPath(r)),
		slog.String("artifact", req.artifact), slog.String("code", code), slog.Duration("took", s.Now().Sub(req.begun)),
	}
	if req.Err != nil {
		attrs = append(attrs, slog.String("error", req.Err.Error()))
	}
	s.Log.LogAttrs(r.Context(), level, "image request answered", attrs...)
}
