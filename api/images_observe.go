package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	sending "slipway/internal/images/download"
	"slipway/internal/images/osimages"
)

// imageRequest is what is known of a request for an image while it is answered.
type imageRequest struct {
	*request

	infraEnvID uuid.UUID
	version    string // of OpenShift
	arch       string
	imageType  string // of ISOs
	credential imageCredential

	artifact string // for those who count
	begun    time.Time
	status   int // of the answer, once it begins
}

type imageRequestKey struct{}

func imageRequestOf(r *http.Request) *imageRequest {
	return r.Context().Value(imageRequestKey{}).(*imageRequest) //nolint:forcetypeassert // observed has put it there
}

// answering reads a request part by part, and answers it or says why not.
func (s *images) answering(answer func(http.ResponseWriter, *http.Request, *imageRequest) error, parts ...func(*http.Request, *imageRequest) error) http.HandlerFunc {
	parts = append(parts, readCredential)
	return func(w http.ResponseWriter, r *http.Request) {
		ask := imageRequestOf(r)
		for _, read := range parts {
			if err := read(r, ask); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		err := answer(w, r, ask)
		switch {
		case errors.Is(err, sending.ErrBroken):
			ask.err = err
			panic(http.ErrAbortHandler)
		case err != nil:
			s.fail(w, r, err)
		}
	}
}

// observed gives every request an id, counts and logs its answer, and turns a panic into
// one. It does not wrap the writer, which would hide sendfile.
func (s *images) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask := &imageRequest{request: &request{id: r.Header.Get(headerRequestID)}, begun: s.Now(), artifact: "none"}
		if !requestIDText.MatchString(ask.id) {
			ask.id = uuid.NewString()
		}
		w.Header().Set(headerRequestID, ask.id)
		ctx := context.WithValue(r.Context(), requestKey{}, ask.request)
		ctx = context.WithValue(ctx, imageRequestKey{}, ask)
		// A router above has its own idea of the path, from before it was cleaned.
		r = r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, nil))
		defer func() { s.conclude(w, r, ask, recover()) }()
		next.ServeHTTP(w, r)
	})
}

func (s *images) conclude(w http.ResponseWriter, r *http.Request, ask *imageRequest, panicked any) {
	if panicked != nil && panicked != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
		s.Log.ErrorContext(r.Context(), "image handler panicked", "request_id", ask.id,
			"path", hiddenCredentials(r), "panic", panicked, "stack", string(debug.Stack()))
		if panicked = http.ErrAbortHandler; ask.status == 0 {
			s.fail(w, r, errPanicked)
			panicked = nil
		}
	}
	s.note(r, ask)
	if panicked != nil {
		panic(panicked)
	}
}

// expected tells whether a 503 is nothing to look into: it ends by itself.
func expected(err error) bool {
	var notReady *osimages.NotReady
	return errors.Is(err, sending.ErrBusy) || errors.As(err, &notReady)
}

// note counts an answer and logs it.
func (s *images) note(r *http.Request, ask *imageRequest) {
	code, level := strconv.Itoa(ask.status), slog.LevelDebug
	switch {
	case errors.Is(ask.err, sending.ErrBroken) && errors.Is(ask.err, sending.ErrShort):
		code, level = "broken", slog.LevelError
	case errors.Is(ask.err, sending.ErrBroken) && errors.Is(ask.err, os.ErrDeadlineExceeded):
		code, level = "broken", slog.LevelInfo // a stalled reader lost its connection
	case errors.Is(ask.err, sending.ErrBroken):
		code = "broken" // the reader has gone
	case broken(ask.status) && ask.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case ask.status == http.StatusServiceUnavailable && !expected(ask.err):
		level = slog.LevelWarn // the API is away, or its address is wrong
	}
	s.Meter.ImageAnswered(ask.artifact, code)
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", ask.id), slog.String("method", r.Method), slog.String("path", hiddenCredentials(r)),
		slog.String("artifact", ask.artifact), slog.String("code", code), slog.Duration("took", s.Now().Sub(ask.begun)),
	}
	if ask.err != nil {
		attrs = append(attrs, slog.String("error", ask.err.Error()))
	}
	s.Log.LogAttrs(r.Context(), level, "image request answered", attrs...)
}
